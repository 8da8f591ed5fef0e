import hashlib
import json
from pathlib import Path

import pytest
from blake3 import blake3

from safehold.preflight.gathering.tokenizer import read_tokenizer, tokenizer_digest
from tests.cases import CASES

BEYOND = CASES / "tokenizer/ids_beyond_embedding"


def test_a_file_has_its_own_digest() -> None:
    content = (BEYOND / "tokenizer.json").read_bytes()
    assert tokenizer_digest(BEYOND / "tokenizer.json") == f"blake3:{blake3(content).hexdigest()}"
    assert (
        tokenizer_digest(BEYOND / "tokenizer.json", "sha256")
        == f"sha256:{hashlib.sha256(content).hexdigest()}"
    )


def test_a_folder_with_one_tokenizer_file_has_its_digest() -> None:
    assert tokenizer_digest(BEYOND) == tokenizer_digest(BEYOND / "tokenizer.json")


def test_every_tokenizer_file_of_a_folder_counts_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text("{}")
    (tmp_path / "merges.txt").write_text("a b")
    before = tokenizer_digest(tmp_path)
    (tmp_path / "README.md").write_text("hello")
    assert tokenizer_digest(tmp_path) == before
    (tmp_path / "merges.txt").write_text("b a")
    assert tokenizer_digest(tmp_path) != before


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tokenizer_digest(tmp_path)
    assert read_tokenizer(str(tmp_path)).error == "it holds no tokenizer file"


def test_added_tokens_count_and_their_first_use_is_found() -> None:
    """TOK-01: the vocabulary has 12 entries, the added tokens the ids 12 and 13."""
    facts = read_tokenizer(str(BEYOND), rows=12, data_path=str(BEYOND / "samples.jsonl"))
    assert facts.largest_id == 13
    assert (facts.tokens_by_id[12], facts.tokens_by_id[13]) == ("<|user|>", "<|end|>")
    assert facts.first_uses
    assert all("samples.jsonl:" in place for place in facts.first_uses.values())


def test_a_unigram_vocabulary_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps({"model": {"vocab": [["<unk>", 0.0], ["a", -1.0]]}, "added_tokens": None})
    )
    assert read_tokenizer(str(path)).largest_id == 1


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"model": null}', b'{"model": {"vocab": {"a": "x"}}}', b"\xff"]
)
def test_a_file_that_is_no_tokenizer_is_hashed_all_the_same(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    facts = read_tokenizer(str(path))
    assert facts.digest
    assert facts.largest_id is None
    assert "is no tokenizer.json" in facts.error
