"""Where the members of a zip archive lie in its file, found without copying or unpacking any."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable
from typing import Any

from safehold.checkpointing.formats.base import Bytes, FormatError


def open_archive(view: Bytes) -> zipfile.ZipFile:
    """Read the index of an archive.

    Raises:
        FormatError: it has none.
    """
    try:
        return zipfile.ZipFile(_Window(view))
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        raise FormatError(
            f"it is no readable zip archive ({error}): cut short or damaged"
        ) from error


def refuse_packed(infos: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse members that would have to be unpacked.

    Raises:
        FormatError: one is compressed.
    """
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise FormatError(
                f"its member {info.filename!r} is compressed; torch stores them plain"
            )


def bytes_of(view: Bytes, info: zipfile.ZipInfo) -> bytes:
    """Return a copy of a member's bytes."""
    start, end = place_of(view, info)
    return bytes(view[start:end])


def place_of(view: Bytes, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Return where a member's bytes lie; the local header repeats name and extra field."""
    at = info.header_offset
    header = bytes(view[at : at + 30]) if at >= 0 else b""
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise FormatError(f"its member {info.filename!r} does not begin where the index says")
    name_length, extra_length = struct.unpack("<HH", header[26:])
    start = at + 30 + name_length + extra_length
    if start + info.file_size > len(view):
        raise FormatError(f"its member {info.filename!r} ends beyond the file")
    return start, start + info.file_size


class _Window(io.RawIOBase):
    """A file over mapped memory, so that `zipfile` reads the index without copying the rest."""

    def __init__(self, view: Bytes) -> None:
        self._view = view
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, len(self._view))[whence]
        if self._at < 0:
            raise ValueError("negative seek")
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most what there is: the index may ask for gigabytes that are not there."""
        left = max(0, len(self._view) - self._at)
        return super().read(left if size is None or size < 0 else min(size, left)) or b""

    def readinto(self, buffer: Any) -> int:
        piece = self._view[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
