"""The batches of an attempt that are not compacted yet: stored as they came, never changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from runs.metricstore.points import Points
from runs.metricstore.sql import rows
from safehold.wire import Batch, Column, compress, decode, encode
from safehold.wire.limits import CONTENT_MSGPACK, MAX_BODY_BYTES, NO_TIME

# A column of which a value was refused is stored with positions, which makes it half as long again as it came.
_STORED_BYTES = 2 * MAX_BODY_BYTES
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Decoded batches kept by a process: a page asks for the same ones again every few seconds.
_CACHE_BYTES = 64 * 2**20


Decoded = tuple[Batch, Mapping[str, Column]]
# Id and microsecond of receipt: a database made anew may give an id again.
CacheKey = tuple[int, int]
_RECEIVED = "(extract(epoch FROM received_at) * 1000000)::bigint"
_TAIL = f"""
SELECT id, attempt_id, {_RECEIVED} FROM runs_metricbatch
WHERE attempt_id = ANY(%s::bigint[]) ORDER BY id
"""
_PAYLOADS = f"""
SELECT id, {_RECEIVED}, payload FROM runs_metricbatch WHERE id = ANY(%s::bigint[])
"""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """One stored batch, decoded; `received_ms` is the server's clock when it came."""

    pk: int
    attempt_id: int
    received_ms: int
    batch: Batch
    columns: Mapping[str, Column]


def payload_of(batch: Batch) -> bytes:
    """Return the stored form of the records of a batch; events and heartbeat are stored elsewhere."""
    return compress(encode(batch))[0]


def decoded(payload: bytes | memoryview) -> Batch:
    """Return the batch of a stored payload; its first bytes say whether it is compressed."""
    raw = bytes(payload)
    encoding = "zstd" if raw.startswith(_ZSTD_MAGIC) else ""
    return decode(raw, CONTENT_MSGPACK, encoding, _STORED_BYTES)


def milliseconds(moment: datetime) -> int:
    """Return unix milliseconds."""
    return int(moment.timestamp() * 1000)


def points_of(stored: Stored, column: Column) -> Points:
    """Return one column of a batch as points; a time that the sender left out is that of receipt."""
    batch = stored.batch
    which = slice(None) if column.index is None else column.index
    times = batch.times[which]
    if bool((times == NO_TIME).any()):
        times = np.where(times == NO_TIME, stored.received_ms, times)
    received = np.full(times.size, stored.received_ms, np.int64)
    return Points(batch.steps[which], batch.tokens[which], times, received, column.values)


def read(attempt_ids: Iterable[int]) -> list[Stored]:
    """Return the uncompacted batches of these attempts in the order of arrival."""
    found = rows(_TAIL, list(attempt_ids))
    held = {pk: _cache.get((pk, received)) for pk, _, received in found}
    held |= _fetched([pk for pk, batch in held.items() if batch is None])
    # A batch that compaction took between the two questions is in a chunk by now.
    return [
        Stored(pk, attempt_id, received // 1000, *known)
        for pk, attempt_id, received in found
        if (known := held[pk]) is not None
    ]


def by_name(batch: Batch) -> Decoded:
    """Return the batch with its columns by name: one of a thousand is found without a search."""
    return batch, {column.name: column for column in batch.columns}


def _fetched(missing: Sequence[int]) -> Mapping[int, Decoded]:
    if not missing:
        return {}
    found = {}
    for pk, received, payload in rows(_PAYLOADS, list(missing)):
        found[pk] = by_name(decoded(payload))
        _cache.put((pk, received), found[pk])
    return found


class _Cache:
    """The newest decoded batches, up to a number of bytes. Safe for threads."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._used = 0
        self._lock = threading.Lock()
        self._batches: OrderedDict[CacheKey, Decoded] = OrderedDict()

    def get(self, key: CacheKey) -> Decoded | None:
        with self._lock:
            found = self._batches.get(key)
            if found is not None:
                self._batches.move_to_end(key)
            return found

    def put(self, key: CacheKey, batch: Decoded) -> None:
        with self._lock:
            if key in self._batches:
                return
            self._batches[key] = batch
            self._used += _size(batch[0])
            while self._used > self._limit and self._batches:
                self._used -= _size(self._batches.popitem(last=False)[1][0])


def _size(batch: Batch) -> int:
    # 600 bytes: objects and name of a column; 12: a value with its position.
    return 24 * batch.n + 600 * len(batch.columns) + 12 * batch.num_points


_cache = _Cache(_CACHE_BYTES)
