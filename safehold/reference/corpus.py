"""Prepare the demo's data: JSONL shards, a tokenizer trained on them, and packed sequences.

Everything is made in a temporary folder and renamed at the end, so a folder is whole or not there, and
a second call finds it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blake3 import blake3

from safehold.data import packed, tokenizer, version
from safehold.data.corpus import read_documents
from safehold.reference.sources import Text, texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = 4096
SPLITS = ("train", "validation")
_FACTS = "prepared.json"
# One document in so many is held out, chosen by the digest of its name: stable when documents come or
# go. Few and short ones need a larger share to fill some sequences.
_HELD_OUT = {"reference": 6}
_HELD_OUT_USUAL = 20
_DOCUMENTS_PER_SHARD = 200
# Trained on every third document: as good for a vocabulary of this size, and three times as fast.
_TRAINING_STRIDE = 3


@dataclass(frozen=True, slots=True)
class Prepared:
    """Data that are ready to train on.

    Attributes:
        directory: Holds `documents/`, `packed/train`, `packed/validation` and `tokenizer.json`.
        data_version: Digest over all files, in order.
        num_tokens: By split and domain.
    """

    directory: Path
    tokenizer_digest: str
    data_version: str
    vocabulary: int
    num_documents: int
    num_bytes: int
    num_tokens: dict[str, dict[str, int]]

    @property
    def tokenizer(self) -> Path:
        """Return the tokenizer's file."""
        return self.directory / tokenizer.FILE_NAME


def prepare(directory: Path, *, source: Iterable[Text] | None = None) -> Prepared:
    """Make the demo's data, or find them made.

    Args:
        directory: Made as a whole or not at all; several processes may call at once.
        source: Other texts than this machine's.

    Raises:
        OSError: the disk refused.
        ValueError: the folder exists and holds something else.
    """
    if (directory / _FACTS).exists():
        return read_prepared(directory)
    if directory.exists() and any(directory.iterdir()):
        raise ValueError(f"{directory} holds something else than prepared data; choose another.")
    directory.parent.mkdir(parents=True, exist_ok=True)
    building = directory.with_name(f".tmp-{directory.name}-{secrets.token_hex(4)}")
    try:
        _build(building, texts() if source is None else source)
        return _publish(building, directory)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def read_prepared(directory: Path) -> Prepared:
    """Return what was prepared in a folder.

    Raises:
        ValueError: it holds no prepared data.
    """
    try:
        facts: dict[str, Any] = json.loads((directory / _FACTS).read_bytes())
        return Prepared(directory=directory, **facts)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{directory} holds no prepared data: {error}.") from error


def _publish(building: Path, directory: Path) -> Prepared:
    try:
        os.rename(building, directory)
    except OSError:
        if not (directory / _FACTS).exists():  # else another process was faster, with the same data
            raise
    return read_prepared(directory)


def _build(folder: Path, source: Iterable[Text]) -> None:
    documents = folder / "documents"
    documents.mkdir(parents=True)
    num_documents, num_bytes = _write_documents(documents, source)
    shards = sorted(documents.glob("*.jsonl"))
    trained = tokenizer.train(_sample(shards), VOCABULARY)
    trained.save(str(folder / tokenizer.FILE_NAME))
    num_tokens = {split: _pack(folder, split, trained) for split in SPLITS}
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent != folder]
    facts = {
        "tokenizer_digest": tokenizer.digest(folder),
        "data_version": version.data_version(
            version.data_file(path, folder) for path in sorted(files)
        ),
        "vocabulary": trained.get_vocab_size(),
        "num_documents": num_documents,
        "num_bytes": num_bytes,
        "num_tokens": num_tokens,
    }
    (folder / _FACTS).write_text(json.dumps(facts, indent=1) + "\n")


def _write_documents(folder: Path, source: Iterable[Text]) -> tuple[int, int]:
    counts: dict[tuple[str, str], int] = {}
    num_bytes = 0
    for text in source:
        key = (_split_of(text), text.domain)
        number = counts[key] = counts.get(key, 0) + 1
        shard = f"{key[0]}-{key[1]}-{(number - 1) // _DOCUMENTS_PER_SHARD:05d}.jsonl"
        line = json.dumps({"id": f"{text.domain}/{text.source}", **text._asdict()}) + "\n"
        with (folder / shard).open("a", encoding="utf-8") as file:
            num_bytes += file.write(line)
    return sum(counts.values()), num_bytes


def _split_of(text: Text) -> str:
    number = int.from_bytes(blake3(text.source.encode()).digest()[:4], "big")
    return "train" if number % _HELD_OUT.get(text.domain, _HELD_OUT_USUAL) else "validation"


def _sample(shards: Iterable[Path]) -> Iterator[str]:
    for shard in shards:
        for number, document in enumerate(read_documents(shard)):
            if number % _TRAINING_STRIDE == 0:
                yield document.text


def _pack(folder: Path, split: str, trained: Tokenizer) -> dict[str, int]:
    """Pack one split, a shard for each JSONL shard; return tokens by domain."""
    target = folder / "packed" / split
    target.mkdir(parents=True)
    num_tokens: dict[str, int] = {}
    for path in sorted((folder / "documents").glob(f"{split}-*.jsonl")):
        domain = path.name.split("-")[1]
        shard = pack_file(path, target, trained, domain=domain)
        num_tokens[domain] = num_tokens.get(domain, 0) + shard.num_tokens
    return num_tokens


def pack_file(
    path: Path, target: Path, trained: Tokenizer, *, domain: str, name: str = ""
) -> packed.Shard:
    """Tokenise one JSONL file into a packed shard.

    Args:
        path: The file.
        target: Folder of the shard.
        trained: The tokenizer.
        domain: Of all its documents.
        name: Of the shard; that of the file where none is given.

    Raises:
        DataError: a record cannot be used.
    """
    encoded = trained.encode_batch([document.text for document in read_documents(path)])
    return packed.write_shard(
        target,
        name or shard_name(path),
        (item.ids for item in encoded),
        domain=domain,
        end_of_text=tokenizer.end_of_text(trained),
        vocabulary=trained.get_vocab_size(),
    )


def shard_name(path: Path) -> str:
    """Return the name of a file's shard, if no other file's is the same."""
    return path.name.split(".")[0]


def facts_of(prepared: Prepared) -> dict[str, Any]:
    """Return what was prepared as plain values, for logs and pages."""
    return {**asdict(prepared), "directory": str(prepared.directory)}
