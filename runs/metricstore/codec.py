"""How points are packed into bytes.

Integers as differences (wrapping, so every int64 survives), values as float32 where that loses nothing, all
with their bytes transposed: equal bytes come to lie together and zstd takes them away. A regular column
costs next to nothing, a loss that the trainer had as float32 about three bytes.

Layout, little-endian: version u8, flags u8 (1 = values are float32), n u32, number of buckets u32, then one
zstd frame: steps, tokens, times, received, values, and the not-finite counts of the buckets.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from runs.metricstore.points import INT_COLUMNS, Floats, Points

_VERSION = 1
_IS_FLOAT32 = 1
_HEAD = struct.Struct("<BBII")
# Levels above 3 cost several times the processor time for one or two percent here.
_ZSTD_LEVEL = 3
# A guard against a damaged row; a chunk holds at most a few thousand points.
_ROW_BYTES = 5 * 8
_MAX_BYTES = 64 * 2**20
_ZERO = np.int64(0)
_tools = threading.local()


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """What a packed column holds: points, and per bucket of a level how many were not finite."""

    points: Points
    not_finite: NDArray[np.int64]


class DamagedChunk(ValueError):
    """Stored bytes are not what was packed."""


def pack(points: Points, not_finite: NDArray[np.int64] | None = None) -> bytes:
    """Return the bytes of the points; `unpack` gives exactly the same back."""
    counts = np.zeros(0, np.int64) if not_finite is None else not_finite
    values, flags = _narrow(points.values)
    planes = [
        *(
            _deltas(column)
            for column in (points.steps, points.tokens, points.times, points.received)
        ),
        _transposed(values),
        _deltas(counts),
    ]
    head = _HEAD.pack(_VERSION, flags, points.size, counts.size)
    return head + _compressor().compress(b"".join(planes))


def unpack(data: bytes | memoryview, wanted: Collection[str] = INT_COLUMNS) -> Packed:
    """Return what was packed.

    Args:
        data: As `pack` gave it.
        wanted: Names of the integer columns to read; the others come as zeros, which costs nothing.

    Raises:
        DamagedChunk: The bytes are cut short, or not ours.
    """
    raw = bytes(data)
    try:
        version, flags, n, num_buckets = _HEAD.unpack_from(raw)
        if version != _VERSION:
            raise DamagedChunk(f"Version {version} of the packing is not known.")
        plain = _decompressor().decompress(raw[_HEAD.size :], max_output_size=_MAX_BYTES)
    except (struct.error, zstandard.ZstdError) as error:
        raise DamagedChunk(f"A chunk of {len(raw)} bytes cannot be read: {error}.") from error
    width = 4 if flags & _IS_FLOAT32 else 8
    return _read(plain, n, num_buckets, width, wanted)


def pack_rows(points: Points) -> bytes:
    """Return the bytes of a few points as plain rows of five int64, the value as its bits.

    Larger than `pack`, but the bytes of thousands of chunks, joined, are read in one go.
    """
    columns = (
        points.steps,
        points.tokens,
        points.times,
        points.received,
        points.values.view(np.int64),
    )
    return np.stack(columns, axis=1).astype("<i8").tobytes()


def unpack_rows(data: bytes) -> Points:
    """Return the points of any number of `pack_rows`, joined.

    Raises:
        DamagedChunk: The bytes are cut short.
    """
    if len(data) % _ROW_BYTES:
        raise DamagedChunk(f"{len(data)} bytes are no whole number of rows.")
    columns = np.frombuffer(data, "<i8").reshape(-1, 5).T.astype(np.int64)
    return Points(columns[0], columns[1], columns[2], columns[3], columns[4].view(np.float64))


def _read(plain: bytes, n: int, num_buckets: int, width: int, wanted: Collection[str]) -> Packed:
    if len(plain) != n * (32 + width) + num_buckets * 8:
        raise DamagedChunk(f"A chunk of {n} points has {len(plain)} bytes.")
    steps, tokens, times, received = (
        _summed(plain, at * n * 8, n) if name in wanted else np.broadcast_to(_ZERO, n)
        for at, name in enumerate(INT_COLUMNS)
    )
    dtype = np.float32 if width == 4 else np.float64
    values = _planes(plain, 32 * n, n, width).view(dtype).reshape(n).astype(np.float64, copy=False)
    counts = _summed(plain, n * (32 + width), num_buckets)
    return Packed(Points(steps, tokens, times, received, values), counts)


def _narrow(values: Floats) -> tuple[NDArray[Any], int]:
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
    # Compared as bits: NaN payloads and the sign of zero must survive too.
    is_same = np.array_equal(narrow.astype(np.float64).view(np.int64), values.view(np.int64))
    return (narrow, _IS_FLOAT32) if is_same else (values, 0)


def _deltas(column: NDArray[np.int64]) -> bytes:
    return _transposed(np.diff(column, prepend=np.int64(0)))


def _transposed(column: NDArray[Any]) -> bytes:
    width = column.dtype.itemsize
    plain = np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<"), copy=False)
    return plain.view(np.uint8).reshape(-1, width).T.tobytes()


def _summed(plain: bytes, start: int, n: int) -> NDArray[np.int64]:
    deltas = _planes(plain, start, n, 8).view(np.int64).reshape(n)
    return np.cumsum(deltas, dtype=np.int64)


def _planes(plain: bytes, start: int, n: int, width: int) -> NDArray[np.uint8]:
    planes = np.frombuffer(plain, np.uint8, n * width, start).reshape(width, n)
    return np.ascontiguousarray(planes.T)


def _compressor() -> zstandard.ZstdCompressor:
    # The objects are costly to make and not to be shared by threads.
    if not hasattr(_tools, "compressor"):
        _tools.compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
    found: zstandard.ZstdCompressor = _tools.compressor
    return found


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_tools, "decompressor"):
        _tools.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _tools.decompressor
    return found
