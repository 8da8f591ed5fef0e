"""Read a JSONL file line by line in bounded memory: a record ends at a line feed and nowhere else."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from blake3 import blake3

LONGEST_LINE_BYTES = 64 << 20  # a line is held in memory; the longest books have a few MB
_BLOCK_BYTES = 1 << 20


class Damaged(Exception):
    """Reading ended before the file did; the message says why."""


class DigestingFile(RawIOBase):
    """A file that is hashed while it is read."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._hash = blake3()
        self.done_bytes = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill the buffer."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        count = self._file.readinto(view) or 0
        self._hash.update(view[:count])
        self.done_bytes += count
        return count

    def finish(self) -> str:
        """Read what is left and return the digest of the whole file."""
        while block := self._file.read(_BLOCK_BYTES):
            self._hash.update(block)
        return f"blake3:{self._hash.hexdigest()}"

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


@dataclass(frozen=True)
class RawLine:
    """One line without its line feed; `content` is None where it is longer than we hold in memory."""

    number: int
    offset: int
    content: bytes | None
    has_line_feed: bool


def open_text(raw: DigestingFile, path: Path) -> BinaryIO:
    """Return the uncompressed bytes of a shard."""
    buffered = BufferedReader(raw, _BLOCK_BYTES)
    if path.suffix == ".gz":
        # Its own readline gives every whole line before a break; a larger buffer around it would lose them.
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered, mode="rb"))
    return buffered


def read_lines(stream: BinaryIO) -> Iterator[RawLine]:
    """Yield every line.

    Raises:
        Damaged: The compressed stream is cut or broken. What was read of the last line is not yielded.
    """
    number, offset = 0, 0
    while True:
        line, size = _next_line(stream)
        if not size:
            return
        number += 1
        ends = line is None or line.endswith(b"\n")
        yield RawLine(number, offset, line[:-1] if line is not None and ends else line, ends)
        offset += size


def _next_line(stream: BinaryIO) -> tuple[bytes | None, int]:
    line = _readline(stream)
    if len(line) < LONGEST_LINE_BYTES or line.endswith(b"\n"):
        return line, len(line)
    size = len(line)
    while line and not line.endswith(b"\n"):
        line = _readline(stream)
        size += len(line)
    return None, size


def _readline(stream: BinaryIO) -> bytes:
    try:
        return stream.readline(LONGEST_LINE_BYTES)
    except EOFError as error:
        raise Damaged("the compressed stream ends early, so the file was cut short") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise Damaged(f"the compressed stream is broken: {error}") from error
    except OSError as error:
        raise Damaged(f"it cannot be read: {error}") from error
