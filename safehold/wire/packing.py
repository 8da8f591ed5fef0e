"""The msgpack form of a batch: whole columns as bytes, so that nothing loops over points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgpack
import numpy as np

from safehold.wire.batch import Batch, Column, Columns, Floats, Index, Ints, Refusal
from safehold.wire.errors import TooLarge, WireError
from safehold.wire.head import read_head
from safehold.wire.limits import MAX_COLUMNS, MAX_RECORDS, NO_TOKENS, VERSION
from safehold.wire.names import name_problem


def pack_batch(batch: Batch) -> bytes:
    """Return the body of a batch (uncompressed)."""
    body: dict[str, Any] = {
        "v": VERSION,
        "rank": batch.rank,
        "journal": batch.journal,
        "first_seq": batch.first_seq,
        "n": batch.n,
        "steps": _bytes(batch.steps, "<i8"),
        "tokens": _bytes(batch.tokens, "<i8"),
        "times": _bytes(batch.times, "<i8"),
        "columns": [_packed(column) for column in batch.columns],
        "events": [{"i": e.i, "kind": e.kind, "data": e.data} for e in batch.events],
        "applied": [[a.id, a.outcome, a.message] for a in batch.applied],
    }
    if batch.heartbeat is not None:
        beat = batch.heartbeat
        body["heartbeat"] = {
            "at": beat.at,
            "step": beat.step,
            "tokens": beat.tokens,
            "phase": beat.phase,
        }
    packed: bytes = msgpack.packb(body)
    return packed


def unpack_map(body: bytes) -> dict[str, Any]:
    """Return the map of a msgpack message.

    Raises:
        WireError: the bytes are not msgpack, or not a map with text keys.
    """
    try:
        data = msgpack.unpackb(body, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise WireError("body", f"is not msgpack ({str(error) or type(error).__name__})") from error
    if not isinstance(data, dict):
        raise WireError("body", f"must be a map, not {type(data).__name__}")
    return data


def unpack_batch(data: Mapping[str, Any]) -> Batch:
    """Read a batch from its map.

    Bad names, and values at records without a step, are refused one by one (`batch.refused`).

    Raises:
        WireError: the message as a whole cannot be trusted; nothing of it was stored.
    """
    n = _count(data)
    head = read_head(data, n)
    steps = _ints(data, "steps", n)
    good, refused = _named(_columns(data, n), n)
    good, more = _with_steps(good, steps, n)
    return replace(
        head,
        steps=np.maximum(steps, -1),
        tokens=np.maximum(_ints(data, "tokens", n), NO_TOKENS),
        times=_ints(data, "times", n),
        columns=good,
        refused=head.refused + refused + more,
    )


def _bytes(array: Ints | Floats | Index, dtype: str) -> bytes:
    return np.ascontiguousarray(array).astype(dtype, copy=False).tobytes()


def _packed(column: Column) -> list[Any]:
    index = None if column.index is None else _bytes(column.index, "<u4")
    return [column.name, index, _bytes(column.values, "<f8")]


def _count(data: Mapping[str, Any]) -> int:
    n = data.get("n")
    if type(n) is not int or n < 0:
        raise WireError("n", f"must be a whole number of at least 0, not {n!r}")
    if n > MAX_RECORDS:
        raise TooLarge("n", f"{n} records; at most {MAX_RECORDS} in one message")
    return n


def _ints(data: Mapping[str, Any], name: str, n: int) -> Ints:
    raw = data.get(name, b"" if n == 0 else None)
    return np.frombuffer(_sized(raw, name, n * 8), dtype="<i8").astype(np.int64, copy=False)


def _sized(raw: object, field: str, size_bytes: int) -> bytes:
    if not isinstance(raw, bytes):
        raise WireError(field, f"must be bytes, not {type(raw).__name__}")
    if len(raw) != size_bytes:
        raise WireError(field, f"has {len(raw)} bytes, {size_bytes} are expected")
    return raw


def _columns(data: Mapping[str, Any], n: int) -> Columns:
    raw = data.get("columns", [])
    if not isinstance(raw, list):
        raise WireError("columns", f"must be a list, not {type(raw).__name__}")
    if len(raw) > MAX_COLUMNS:
        raise TooLarge("columns", f"{len(raw)} columns; at most {MAX_COLUMNS} in one message")
    columns = tuple(_column(item, f"columns[{i}]", n) for i, item in enumerate(raw))
    if len({column.name for column in columns}) != len(columns):
        raise WireError("columns", "name one metric twice; a metric has one column")
    return columns


def _column(item: object, field: str, n: int) -> Column:
    if not isinstance(item, list) or len(item) != 3 or not isinstance(item[0], str):
        raise WireError(field, "must be [name, index or nil, values]")
    name, raw_index, raw_values = item
    if not isinstance(raw_values, bytes) or len(raw_values) % 8:
        raise WireError(f"{field}.values", "must be bytes of float64")
    values: Floats = np.frombuffer(raw_values, dtype="<f8").astype(np.float64, copy=False)
    if raw_index is None:
        _sized(raw_values, f"{field}.values", n * 8)
        return Column(name, None, values)
    index = _index(raw_index, f"{field}.index", values.size, n)
    return Column(name, index, values)


def _index(raw: object, field: str, num_values: int, n: int) -> Index:
    data = _sized(raw, field, num_values * 4)
    index: Index = np.frombuffer(data, dtype="<u4").astype(np.uint32, copy=False)
    if index.size and (int(index[-1]) >= n or bool(np.any(index[1:] <= index[:-1]))):
        raise WireError(field, f"must rise strictly and stay below n ({n})")
    return index


def _named(columns: Columns, n: int) -> tuple[Columns, tuple[Refusal, ...]]:
    """Leave out columns whose name is refused; one refusal a column, at its first record."""
    good, refused = [], []
    for column in columns:
        problem = name_problem(column.name)
        if problem is None:
            good.append(column)
        elif column.num_points:
            first = 0 if column.index is None else int(column.index[0])
            refused.append(Refusal(first, column.name, problem))
    return tuple(good), tuple(refused)


def _with_steps(columns: Columns, steps: Ints, n: int) -> tuple[Columns, tuple[Refusal, ...]]:
    """Leave out values of records without a step. The usual case is one comparison."""
    if n == 0 or int(steps.min()) >= 0:
        return columns, ()
    missing = steps < 0
    good, refused = [], []
    for column in columns:
        index = np.arange(n, dtype=np.uint32) if column.index is None else column.index
        bad = missing[index]
        reason = "step must be at least 0"
        refused += [Refusal(int(i), column.name, reason) for i in index[bad][:100]]
        if not bad.all():
            good.append(Column(column.name, index[~bad], column.values[~bad]))
    return tuple(good), tuple(refused)
