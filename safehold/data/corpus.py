"""Read documents from JSONL shards: in order, or any one by the index of byte offsets.

Lines and records are read by the same code as preflight does, so that training never reads data in
another way than they were judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safehold.preflight.gathering.lines import (
    Damaged,
    DigestingFile,
    RawLine,
    open_text,
    read_lines,
)
from safehold.preflight.gathering.records import BOM, read_record

_BLANK = b" \t\r"
# Told by preflight, but the text of the record is clear.
_HARMLESS = ("number_out_of_range", "empty_text")


class DataError(ValueError):
    """A record that cannot be used; the message gives file, line and byte offset."""


@dataclass(frozen=True, slots=True)
class Document:
    """One record.

    Attributes:
        line: Line feeds before it, plus one.
        offset: Of its line's first byte in the (uncompressed) file.
        record: All of its fields, as the line says them.
    """

    path: Path
    line: int
    offset: int
    text: str
    record: dict[str, Any]


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a `.jsonl` or `.jsonl.gz` file; blank lines are none.

    Raises:
        DataError: a record is broken or ambiguous, or the file is cut: never a shorter data set.
    """
    num_records = 0
    with DigestingFile(path) as raw, open_text(raw, path) as stream:
        try:
            for line in read_lines(stream):
                document = _document(path, line)
                if document is not None:
                    num_records += 1
                    yield document
        except Damaged as error:
            raise DataError(f"{path}: {error}; {num_records} whole records come before.") from error


class CorpusFile:
    """Any document of an uncompressed shard, by number, without reading those before it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offsets = index(path)

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, number: int) -> Document:
        """Return a document.

        Raises:
            DataError: its record is broken.
            IndexError: there is none of this number.
        """
        line_number, offset = self.offsets[number]
        with self.path.open("rb") as file:
            file.seek(int(offset))
            content = file.readline()
        has_line_feed = content.endswith(b"\n")
        line = RawLine(int(line_number), int(offset), content.removesuffix(b"\n"), has_line_feed)
        document = _document(self.path, line)
        if document is None:
            raise DataError(f"{self.path}: the file has changed since it was indexed.")
        return document


def index(path: Path) -> NDArray[np.int64]:
    """Return line number and byte offset of each record, shape `(records, 2)`."""
    found = []
    with DigestingFile(path) as raw, open_text(raw, path) as stream:
        for line in read_lines(stream):
            if line.content is None or line.content.removeprefix(BOM).strip(_BLANK):
                found.append((line.number, line.offset))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _document(path: Path, line: RawLine) -> Document | None:
    content = None if line.content is None else line.content.removeprefix(BOM).strip(_BLANK)
    if content == b"":
        return None
    record = read_record(RawLine(line.number, line.offset, content, line.has_line_feed))
    problems = [problem for problem in record.problems if problem.kind not in _HARMLESS]
    if problems or record.value is None or not isinstance(record.value.get("text"), str):
        reasons = " ".join(problem.detail for problem in record.problems)
        raise DataError(f"{path}, line {line.number}, byte {line.offset}: {reasons}")
    return Document(path, line.number, line.offset, record.value["text"], record.value)
