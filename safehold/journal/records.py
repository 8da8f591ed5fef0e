"""One record as bytes, and many records as one batch of the wire.

A record carries its metric names joined by line feeds (a name holds no control characters) and its
values as packed float64, so records of one shape become columns without a loop over points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgpack
import numpy as np

from safehold.wire import NO_STEP, NO_TOKENS, Batch, Column, Columns, Event, EventKind

Row = tuple[int, int, int, str, bytes, EventKind | None, dict[str, Any] | None]


def pack_record(
    *,
    step: int,
    tokens: int,
    at_ms: int,
    names: str = "",
    values: bytes = b"",
    kind: EventKind | None = None,
    data: dict[str, Any] | None = None,
) -> bytes:
    """Return one record as bytes.

    Args:
        step: -1 where it belongs to no step.
        tokens: Tokens seen, -1 where not known.
        at_ms: This machine's clock, unix milliseconds.
        names: Metric names joined by line feeds, in the order of `values`.
        values: Packed float64, little-endian.
        kind: For an event.
        data: For an event; tidied already.
    """
    packed: bytes = msgpack.packb((step, tokens, at_ms, names, values, kind, data))
    return packed


def lost_record(text: str) -> bytes:
    """Return a record that stands for lost ones and says so."""
    return pack_record(
        step=NO_STEP,
        tokens=NO_TOKENS,
        at_ms=0,
        kind="message",
        data={"level": "error", "text": text},
    )


BLANK = pack_record(step=NO_STEP, tokens=NO_TOKENS, at_ms=0)


def to_batch(rank: int, journal: str, first_seq: int, records: Sequence[bytes]) -> Batch:
    """Return consecutive records as a batch.

    Args:
        rank: Whose journal it is.
        journal: Its 32 hexadecimal digits.
        first_seq: Number of the first record.
        records: As `pack_record` made them.
    """
    rows: list[Row] = [msgpack.unpackb(record, use_list=False) for record in records]
    return Batch(
        rank=rank,
        journal=journal,
        first_seq=first_seq,
        steps=np.array([row[0] for row in rows], dtype=np.int64),
        tokens=np.array([row[1] for row in rows], dtype=np.int64),
        times=np.array([row[2] for row in rows], dtype=np.int64),
        columns=_columns(rows),
        events=tuple(Event(i, row[5], row[6] or {}) for i, row in enumerate(rows) if row[5]),
    )


def _columns(rows: Sequence[Row]) -> Columns:
    shapes: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        if row[3]:
            shapes.setdefault(row[3], []).append(i)
    pieces: dict[str, list[tuple[Any, Any]]] = {}
    for names, positions in shapes.items():
        index = np.array(positions, dtype=np.uint32)
        table = np.frombuffer(b"".join(rows[i][4] for i in positions), dtype="<f8")
        for name, values in zip(names.split("\n"), table.reshape(index.size, -1).T, strict=True):
            pieces.setdefault(name, []).append((index, values))
    return tuple(_column(name, found, len(rows)) for name, found in pieces.items())


def _column(name: str, found: Sequence[tuple[Any, Any]], n: int) -> Column:
    index = np.concatenate([part for part, _ in found])
    values = np.concatenate([part for _, part in found]).astype(np.float64, copy=False)
    if len(found) > 1:
        order = np.argsort(index)
        index, values = index[order], values[order]
    return Column(name, None if index.size == n else index, np.ascontiguousarray(values))
