"""How a record lies in a segment file: length, checksum, number, then its bytes.

The checksum covers the number too, so neither a torn tail nor an old block of a reused disk sector
can pass for a record.
"""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

MAGIC = b"SHJOURN1"  # opens every segment; the last character is the version of this format
SUFFIX = ".segment"
MAX_RECORD_BYTES = 8 * 2**20

_HEAD = struct.Struct("<IIQ")
HEAD_BYTES = _HEAD.size
_NAME = re.compile(r"(\d{20})\.segment")


def frame(seq: int, record: bytes) -> bytes:
    """Return the bytes that stand for record `seq` in a segment."""
    return _HEAD.pack(len(record), _checksum(seq, record), seq) + record


def parse(data: bytes, due: int, most: int) -> tuple[list[bytes], int]:
    """Return the whole records at the start of `data`, from number `due` on.

    Args:
        data: From a record boundary.
        due: Number that comes next; records below it are skipped.
        most: At most so many.

    Returns:
        The records, and how many bytes they (and skipped ones) take. Reading ends at the first
        frame that is cut off or wrong.
    """
    records: list[bytes] = []
    at = 0
    while len(records) < most and at + HEAD_BYTES <= len(data):
        size, checksum, seq = _HEAD.unpack_from(data, at)
        end = at + HEAD_BYTES + size
        # Numbers begin at 1: zeros, as a loss of power leaves them, would pass for a record of none.
        if size > MAX_RECORD_BYTES or end > len(data) or not 0 < seq <= due + len(records):
            break
        record = data[at + HEAD_BYTES : end]
        if _checksum(seq, record) != checksum:
            break
        if seq == due + len(records):
            records.append(record)
        at = end
    return records, at


def segment_path(folder: Path, first_seq: int) -> Path:
    """Return the path of the segment that begins with record `first_seq`."""
    return folder / f"{first_seq:020d}{SUFFIX}"


def segments(folder: Path) -> list[tuple[int, Path]]:
    """Return the segments of a journal with their first numbers, oldest first."""
    try:
        names = [(_NAME.fullmatch(path.name), path) for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    return sorted((int(match[1]), path) for match, path in names if match)


def _checksum(seq: int, record: bytes) -> int:
    return zlib.crc32(record, seq & 0xFFFFFFFF)
