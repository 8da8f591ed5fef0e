"""What the readers of all formats share: where each tensor's bytes lie, and how it can be wrong."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, Protocol

# Bytes of one element, by safetensors' names; `torch` names are translated by the torch readers.
ITEM_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1,
    "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
    "U32": 4, "I32": 4, "F32": 4,
    "U64": 8, "I64": 8, "F64": 8, "C64": 8, "C128": 16,
}  # fmt: skip


class FormatError(ValueError):
    """A file that cannot be what its name says; the message gives the reason."""


class UnsafeError(FormatError):
    """A file that would run code if it were loaded; the message names what it calls."""


class Bytes(Protocol):
    """A file's bytes: `view[a:b]` is a stretch of them; memory, or read from disk when asked."""

    def __len__(self) -> int: ...
    def __getitem__(self, piece: slice, /) -> bytes | memoryview: ...


class View:
    """A file as a sequence of bytes: `view[a:b]` reads just that stretch."""

    def __init__(self, descriptor: int, start: int = 0, end: int | None = None) -> None:
        self._descriptor = descriptor
        self._start = start
        self._end = os.fstat(descriptor).st_size if end is None else end

    def __len__(self) -> int:
        return self._end - self._start

    def __getitem__(self, piece: slice) -> bytes:
        start, stop, _ = piece.indices(len(self))
        return os.pread(self._descriptor, max(0, stop - start), self._start + start)


@dataclass(frozen=True, slots=True)
class Span:
    """Where one tensor lies in its file: bytes from `start` to `end`, in the file's own order."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: tensors by position, and the rest as plain values."""

    spans: tuple[Span, ...] = ()
    document: Any = None
    metadata: dict[str, str] = field(default_factory=dict)


def num_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the bytes that a tensor of this dtype and shape takes; exact at any size.

    Raises:
        FormatError: the dtype is unknown.
    """
    if dtype not in ITEM_BYTES:
        raise FormatError(f"dtype {dtype!r} is unknown")
    return math.prod(shape) * ITEM_BYTES[dtype]
