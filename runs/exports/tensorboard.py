"""TensorBoard event files: scalars of the curve that stands, one tag a metric.

A file is a row of records: length u64, masked CRC-32C of it, data, masked CRC-32C of that; the data are `Event` messages
of tensorflow/core/util/event.proto, written here by hand, for they need five fields. Values become float32, which is
what a scalar of TensorBoard holds; NaN and infinities stay. Ranks but the lowest get the tag `<name>/rank-<n>`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import numpy as np

from runs.metricstore.whole import Block

_POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected: RFC 3720, appendix B.4
_MASK_DELTA = 0xA282EAD8  # tensorflow/core/lib/hash/crc32c.h
_VERSION = b"brain.Event:2"


def written(blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the file; what a later attempt did over is left out."""
    yield _record(b"\x09" + struct.pack("<d", 0.0) + b"\x1a" + _sized(_VERSION))
    lowest: dict[str, int] = {}
    for block in blocks:
        if not block.is_superseded:
            rank = lowest.setdefault(block.name, block.rank)
            tag = block.name if block.rank == rank else f"{block.name}/rank-{block.rank}"
            yield b"".join(_records(tag.encode(), block))


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes."""
    state = 0xFFFFFFFF
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """Return a CRC as it stands in a file."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def _records(tag: bytes, block: Block) -> Iterator[bytes]:
    points = block.points
    name = b"\x0a" + _sized(tag)
    with np.errstate(over="ignore"):
        values = points.values.astype("<f4")
    rows = zip(points.times.tolist(), points.steps.tolist(), values, strict=True)
    for time_ms, step, value in rows:
        summary = b"\x0a" + _sized(name + b"\x15" + value.tobytes())
        yield _record(
            b"\x09"
            + struct.pack("<d", time_ms / 1000)
            + b"\x10"
            + _varint(step)
            + b"\x2a"
            + _sized(summary)
        )


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    head = length + struct.pack("<I", masked(crc32c(length)))
    return head + data + struct.pack("<I", masked(crc32c(data)))


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_entry(byte) for byte in range(256))
