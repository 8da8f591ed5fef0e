import gzip
import json
from pathlib import Path

import pytest
from blake3 import blake3

from safehold.preflight.gathering.data import records_of, scan, scan_shard
from tests.cases import CASES

DATA = CASES / "data"


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_a_windows_file_has_the_same_records() -> None:
    """DATA-01: a byte-order mark, CRLF, a blank line, no line feed at the end."""
    facts = scan_shard(DATA / "bom_crlf_mixed.jsonl")
    texts = [record["text"] for _, record in records_of(DATA / "bom_crlf_mixed.jsonl")]
    assert (facts.num_records, facts.num_blank, facts.num_bom, facts.problems) == (4, 1, 1, {})
    assert facts.num_crlf == 3
    assert texts[0].startswith("first")
    assert not any(text.endswith("\r") for text in texts)


def test_marks_of_an_editor_change_no_record(tmp_path: Path) -> None:
    """DATA-01: the same file without byte-order mark and with LF has the same records."""
    content = (DATA / "bom_crlf_mixed.jsonl").read_bytes()
    plain = write(
        tmp_path / "a.jsonl", content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    )
    marked = [record for _, record in records_of(DATA / "bom_crlf_mixed.jsonl")]
    assert [record for _, record in records_of(plain)] == marked


def test_the_digest_is_that_of_the_bytes_on_disk() -> None:
    for path in DATA.glob("*.jsonl*"):
        assert scan_shard(path).digest == f"blake3:{blake3(path.read_bytes()).hexdigest()}"


def test_a_record_ends_at_a_line_feed_only() -> None:
    """DATA-02: U+2028, U+2029 and U+0085 inside a text."""
    found = list(records_of(DATA / "unicode_separators.jsonl"))
    assert [(line, record["id"]) for line, record in found] == [(1, 1), (2, 2), (3, 3)]
    assert [
        mark in record["text"] for mark, (_, record) in zip("\u2028\x85\u2029", found, strict=True)
    ] == [True] * 3
    assert scan_shard(DATA / "unicode_separators.jsonl").problems == {}


def test_half_a_surrogate_is_located() -> None:
    """DATA-03."""
    facts = scan_shard(DATA / "lone_surrogate.jsonl")
    assert [(one.kind, one.line) for one in facts.examples] == [
        ("not_encodable", 2),
        ("not_encodable", 4),
    ]
    texts = {
        record["id"]: record["text"] for _, record in records_of(DATA / "lone_surrogate.jsonl")
    }
    assert texts[3] == "a proper pair: \N{THUMBS UP SIGN}"


def test_nul_is_located_with_its_field() -> None:
    """DATA-04."""
    facts = scan_shard(DATA / "nul_in_text.jsonl")
    assert [(one.kind, one.line, one.detail) for one in facts.examples] == [
        ("nul", 2, "`text` holds NUL."),
        ("nul", 3, "`source` holds NUL."),
    ]


def test_metadata_are_what_the_line_says() -> None:
    """DATA-05."""
    path = DATA / "type_drift_big_int.jsonl"
    facts = scan_shard(path)
    ids = [record["id"] for _, record in records_of(path)]
    assert ids == [1, 9007199254740993, 9223372036854775808, "x-17", [5]]
    assert facts.types["id"] == {"number": 1, "string": 4, "list": 5}
    assert facts.types["score"] == {"number": 1, "null": 4, "object": 5}
    assert [(one.kind, one.line) for one in facts.examples] == [("number_out_of_range", 3)]


def test_a_cut_shard_is_damaged_behind_its_whole_records() -> None:
    """DATA-06: the copy stopped at 60 percent of 400 records."""
    facts = scan_shard(DATA / "truncated_shard.jsonl.gz")
    assert "cut short" in facts.damage
    assert facts.num_records == 237
    assert facts.last_good == {"line": 237, "id": 236}
    assert facts.problems == {}


def test_a_key_that_stands_twice_is_told() -> None:
    """DATA-07: the document is not taken for an empty text."""
    facts = scan_shard(DATA / "duplicate_keys.jsonl")
    assert [(one.kind, one.line, one.detail) for one in facts.examples] == [
        ("duplicate_key", 1, "The key 'text' stands twice."),
        ("duplicate_key", 2, "The key 'lang' stands twice."),
    ]


@pytest.mark.parametrize(
    ("line", "kind", "offset"),
    [
        (b'{"text": "\xe9"}', "not_utf8", 10),
        (b'{"text": "a"', "not_json", 12),
        (b'{"text": "\xc3\xa9" x}', "not_json", 14),
        (b'["text"]', "not_a_record", 0),
        (b'"text"', "not_a_record", 0),
        (b'{"txt": "a"}', "no_text", 0),
        (b'{"text": null}', "no_text", 0),
        (b'{"text": 3}', "no_text", 0),
        (b'{"text": " "}', "empty_text", 0),
        (b'{"text": "a", "n": NaN}', "number_out_of_range", 0),
        (b'{"text": "a", "n": 1e999}', "number_out_of_range", 0),
        (b'{"text": "a", "n": ' + b"9" * 6000 + b"}", "number_out_of_range", 0),
        (b'{"text": "a", "k\\ud800": 1}', "not_encodable", 0),
        (b"[" * 200_000, "not_json", 0),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_bad_line_is_told_by_line_and_byte(
    name: str, line: bytes, kind: str, offset: int, tmp_path: Path
) -> None:
    good = b'{"text": "before"}\n'
    facts = scan_shard(write(tmp_path / name, good + line + b"\n" + good))
    assert [(one.kind, one.line, one.offset) for one in facts.examples] == [
        (kind, 2, len(good) + offset)
    ]
    assert facts.num_records == 3


def test_what_is_shown_can_be_stored_anywhere(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        b'{"text": "a", "k\\ud800\\u0000": "\\udfff\\u0000", "id": "\\ud800"}\n',
    )
    facts = scan_shard(path)
    shown = json.dumps(
        [one.detail for one in facts.examples] + [facts.last_good, facts.types], ensure_ascii=False
    )
    assert "\\u0000" not in shown.replace("\\\\", "")
    shown.encode()


def test_a_line_beyond_all_bounds_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("safehold.preflight.gathering.lines.LONGEST_LINE_BYTES", 64)
    long = b'{"text": "' + b"x" * 1000 + b'"}\n'
    facts = scan_shard(write(tmp_path / "a.jsonl", long + b'{"text": "after"}\n'))
    assert [(one.kind, one.line) for one in facts.examples] == [("too_long", 1)]
    assert facts.last_good["line"] == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"not gzip at all", gzip.compress(b'{"text": "a"}\n') + b"tail"],
    ids=["empty", "no archive", "tail"],
)
def test_a_broken_archive_is_damage(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(content)
    assert scan_shard(tmp_path / "a.jsonl.gz").damage


def test_an_archive_of_several_members_is_read_whole(tmp_path: Path) -> None:
    member = gzip.compress(b'{"text": "a"}\n')
    (tmp_path / "a.jsonl.gz").write_bytes(member * 3)
    facts = scan_shard(tmp_path / "a.jsonl.gz")
    assert (facts.num_records, facts.damage) == (3, "")


def test_a_folder_is_read_shard_by_shard(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    write(tmp_path / "web/b.jsonl.gz", b'{"text": "b"}\n')
    write(tmp_path / "a.jsonl", b'{"text": "a"}\n')
    write(tmp_path / "tokens.bin", b"\0")
    write(tmp_path / "c.parquet", b"PAR1")
    facts = scan(tmp_path)
    assert [Path(shard.path).name for shard in facts.shards] == ["a.jsonl", "b.jsonl.gz"]
    assert [Path(name).name for name in facts.unread] == ["c.parquet"]
    assert facts.num_records == 2


def test_a_missing_path_is_a_fact(tmp_path: Path) -> None:
    assert scan(tmp_path / "nope").error == "No such file or directory"


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", b'{"text": "a"}\n' * 5000)
    write(tmp_path / "b.jsonl", b'{"text": "b"}\n')
    told: list[tuple[int, int]] = []
    scan(tmp_path, lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
