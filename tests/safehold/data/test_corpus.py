"""Records are read as the bytes say, or refused with their place."""

import gzip
import json
from pathlib import Path

import pytest

from safehold.data.corpus import CorpusFile, DataError, read_documents

CASES = Path(__file__).parents[2] / "cases" / "data"


def texts(name):
    return [document.text for document in read_documents(CASES / name)]


def test_what_an_editor_adds_changes_no_record():
    documents = list(read_documents(CASES / "bom_crlf_mixed.jsonl"))
    assert len(documents) == 4
    assert documents[0].text.startswith("first")
    assert not any(document.text.endswith("\r") for document in documents)
    assert [document.line for document in documents] == [1, 2, 3, 5]


def test_record_ends_at_a_line_feed_only():
    found = texts("unicode_separators.jsonl")
    assert len(found) == 3
    assert "\u2028" in found[0]
    assert "\x85" in found[1]
    assert "\u2029" in found[2]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("lone_surrogate.jsonl", "line 2, byte 33"),
        ("duplicate_keys.jsonl", "line 1, byte 0: .*'text' stands twice"),
        ("nul_in_text.jsonl", "line 2"),
        ("truncated_shard.jsonl.gz", "cut short; [0-9]+ whole records come before"),
    ],
)
def test_unclear_record_is_refused_with_its_place(name, place):
    with pytest.raises(DataError, match=place):
        texts(name)


def test_numbers_come_back_exactly():
    found = [d.record["id"] for d in read_documents(CASES / "type_drift_big_int.jsonl")]
    assert found == [1, 9007199254740993, 9223372036854775808, "x-17", [5]]


@pytest.mark.parametrize("name", ["bom_crlf_mixed.jsonl", "unicode_separators.jsonl"])
def test_any_document_by_number_is_the_one_read_in_order(name):
    corpus = CorpusFile(CASES / name)
    assert [corpus[number] for number in range(len(corpus))] == list(read_documents(CASES / name))


def test_compressed_shard_reads_as_the_plain_one(tmp_path):
    content = (CASES / "bom_crlf_mixed.jsonl").read_bytes()
    path = tmp_path / "shard.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    assert [d.text for d in read_documents(path)] == texts("bom_crlf_mixed.jsonl")


def test_record_without_text_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "fine"}) + "\n" + json.dumps({"body": "x"}) + "\n")
    with pytest.raises(DataError, match=r"a\.jsonl, line 2, byte 17: There is no `text`"):
        list(read_documents(path))
