"""Find NaN and infinity in raw bytes, at memory speed.

For floats of 32 and 64 bits the sum is taken first (it is finite only if every value is, overflow
apart) and the values are looked at one by one only where it is not. Smaller floats are judged by
their exponent bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safehold.checkpointing.formats.base import ITEM_BYTES, Span
from safehold.checkpointing.verification.facts import NotFinite

_WIDE: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "C64": np.dtype("<f4"),
    "C128": np.dtype("<f8"),
}
# Sign shifted out: from this value on the exponent is all ones. IEEE 754; bfloat16; OCP FP8 E5M2.
_NARROW: dict[str, tuple[np.dtype[Any], int]] = {
    "F16": (np.dtype("<u2"), 0xF800),
    "BF16": (np.dtype("<u2"), 0xFF00),
    "F8_E5M2": (np.dtype("u1"), 0xF8),
}
# OCP FP8: E4M3 (the finite kind) has NaN as 0x7F and 0xFF, E8M0 has it as 0xFF; neither has infinity.
_NAN_ONLY = {"F8_E4M3": (0x7F, 0x7F), "F8_E8M0": (0xFF, 0xFF)}


class Scan:
    """Takes a file's chunks in order and counts what is not finite in each tensor."""

    def __init__(self, spans: Iterable[Span]) -> None:
        floats = (span for span in spans if _is_float(span.dtype))
        unique = {(span.start, span.end): span for span in floats}
        self._spans = [unique[place] for place in sorted(unique)]
        self._first = 0
        self._rest = b""
        self._found: dict[str, NotFinite] = {}

    def take(self, at: int, chunk: memoryview) -> None:
        """Look at the bytes of the file from `at` on."""
        end = at + len(chunk)
        while self._first < len(self._spans) and self._spans[self._first].end <= at:
            self._first += 1
        for number in range(self._first, len(self._spans)):
            span = self._spans[number]
            if span.start >= end:
                break
            self._look(span, chunk[max(0, span.start - at) : span.end - at], max(at, span.start))

    def found(self) -> tuple[NotFinite, ...]:
        """Return the tensors that hold something not finite."""
        return tuple(self._found.values())

    def _look(self, span: Span, piece: memoryview, at: int) -> None:
        """Count in one piece; an element cut by the chunk's end waits for its second half."""
        size = _element_bytes(span.dtype)
        if (at - span.start) % size:
            head = size - (at - span.start) % size
            self._count(span, memoryview(self._rest + bytes(piece[:head])))
            piece = piece[head:]
        whole = len(piece) - len(piece) % size
        self._rest = bytes(piece[whole:])
        self._count(span, piece[:whole])

    def _count(self, span: Span, piece: memoryview) -> None:
        num_nan, num_infinite = count_not_finite(span.dtype, piece)
        if num_nan or num_infinite:
            old = self._found.get(span.name, NotFinite(span.name, 0, 0))
            self._found[span.name] = NotFinite(
                span.name, old.num_nan + num_nan, old.num_infinite + num_infinite
            )


def count_not_finite(dtype: str, piece: memoryview) -> tuple[int, int]:
    """Return how many values are NaN and how many infinite; the bytes are little-endian."""
    if not len(piece):
        return 0, 0
    if dtype in _WIDE:
        return _count_wide(np.frombuffer(piece, _WIDE[dtype]))
    if dtype in _NARROW:
        kind, limit = _NARROW[dtype]
        return _count_narrow(np.frombuffer(piece, kind), limit)
    if dtype in _NAN_ONLY:
        mask, nan = _NAN_ONLY[dtype]
        return int(((np.frombuffer(piece, np.uint8) & mask) == nan).sum()), 0
    return 0, 0


def _count_wide(values: NDArray[np.floating[Any]]) -> tuple[int, int]:
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return 0, 0
    return int(np.isnan(values).sum()), int(np.isinf(values).sum())


def _count_narrow(bits: NDArray[np.unsignedinteger[Any]], limit: int) -> tuple[int, int]:
    shifted = bits << 1
    if shifted.max() < limit:
        return 0, 0
    return int((shifted > limit).sum()), int((shifted == limit).sum())


def _is_float(dtype: str) -> bool:
    return dtype in _WIDE or dtype in _NARROW or dtype in _NAN_ONLY


def _element_bytes(dtype: str) -> int:
    return _WIDE[dtype].itemsize if dtype in _WIDE else ITEM_BYTES[dtype]
