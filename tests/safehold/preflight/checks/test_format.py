import json
from pathlib import Path

import pytest

from safehold.preflight import Facts, Report, run_checks
from safehold.preflight.gathering import scan
from tests.cases import CASES


def judge(path: Path, validation: Path | None = None) -> Report:
    return run_checks(
        Facts(data=scan(path), validation=scan(validation) if validation else None), ["data"]
    )


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("bom_crlf_mixed.jsonl", "pass", "met 1 byte-order marks, 3 CRLF line ends, 1 blank lines"),
        ("unicode_separators.jsonl", "pass", "3 records in 1 files"),
        ("lone_surrogate.jsonl", "fail", "2 of 4 records: text not encodable"),
        ("nul_in_text.jsonl", "warn", "2 of 3 records: NUL in a text"),
        ("type_drift_big_int.jsonl", "warn", "the type of id, score changes between lines"),
        ("truncated_shard.jsonl.gz", "fail", "is damaged after 237 whole records"),
        ("duplicate_keys.jsonl", "fail", "2 of 3 records: a key twice"),
    ],
)
def test_each_case_has_its_verdict(name: str, verdict: str, words: str) -> None:
    report = judge(CASES / "data" / name)
    assert report.verdict == verdict
    assert any(words in finding.message for finding in report.findings)
    json.dumps(report.to_dict(), ensure_ascii=False).encode()


def test_the_policy_for_bad_text_is_told() -> None:
    (finding,) = [
        one for one in judge(CASES / "data/lone_surrogate.jsonl").findings if one.severity == "fail"
    ]
    assert "U+FFFD" in finding.advice
    assert [one["line"] for one in finding.evidence["examples"]] == [2, 4]


def test_a_damaged_shard_is_not_counted_as_whole() -> None:
    report = judge(CASES / "data/truncated_shard.jsonl.gz")
    assert [one.severity for one in report.findings] == ["fail"]
    assert report.findings[0].evidence["last_good"] == {"line": 237, "id": 236}


def test_validation_data_are_judged_too() -> None:
    report = judge(CASES / "data/unicode_separators.jsonl", CASES / "data/duplicate_keys.jsonl")
    assert report.verdict == "fail"


def test_nothing_to_read_blocks(tmp_path: Path) -> None:
    assert "holds no .jsonl" in judge(tmp_path).findings[0].message
    assert "No such file" in judge(tmp_path / "nope").findings[0].message
    (tmp_path / "a.jsonl").write_text("\n\n")
    assert "holds no record" in judge(tmp_path).findings[0].message


def test_a_shard_that_would_be_left_out_in_silence_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "b.jsonl.zst").write_bytes(b"\0")
    assert judge(tmp_path).verdict == "fail"
