"""Moving points from batches into chunks, one series each.

A slice of batches becomes chunks in one transaction that also deletes the batches, so a crash leaves either
the one or the other. A lock of the database keeps a second compaction of the same attempt out.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import connection, transaction

from runs.metricstore import levels, tail
from runs.metricstore.codec import pack, unpack
from runs.metricstore.points import Points, joined
from runs.metricstore.series import count_in, ids_of
from runs.models import MetricBatch, MetricChunk

logger = logging.getLogger(__name__)
CHUNK_POINTS = 8192
# What one transaction reads: bounds memory and the time that its locks are held.
SLICE_BATCHES = 512
SLICE_POINTS = 1_000_000
# First half of the advisory lock's key, so that it collides with no other use.
_LOCK = 0x5AFE_0001
Key = tuple[int, str]  # rank, name


def compact_attempt(attempt_id: int) -> int:
    """Move all stored batches of an attempt into chunks; safe to repeat, to crash and to run twice at once.

    Returns:
        How many batches were moved; 0 also where another process is at it.
    """
    moved = 0
    while taken := _compact_slice(attempt_id):
        moved += taken
    if moved:
        logger.info("metrics.compacted", extra={"attempt_id": attempt_id, "batches": moved})
    return moved


@transaction.atomic
def _compact_slice(attempt_id: int) -> int:
    if not _locked(attempt_id):
        return 0
    stored = _slice(attempt_id)
    if not stored:
        return 0
    points = _by_series(stored)
    ids = ids_of(attempt_id, points)
    _write({ids[key]: parts for key, parts in points.items()})
    MetricBatch.objects.filter(pk__in=[one.pk for one in stored])._raw_delete("default")
    return len(stored)


def _locked(attempt_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, hashint8(%s))", [_LOCK, attempt_id])
        return bool(cursor.fetchone()[0])


def _slice(attempt_id: int) -> list[tail.Stored]:
    rows = MetricBatch.objects.filter(attempt_id=attempt_id).order_by("pk")[:SLICE_BATCHES]
    stored, num_points = [], 0
    for pk, received_at, payload in rows.values_list("pk", "received_at", "payload"):
        batch, columns = tail.by_name(tail.decoded(payload))
        stored.append(tail.Stored(pk, attempt_id, tail.milliseconds(received_at), batch, columns))
        num_points += batch.num_points
        if num_points >= SLICE_POINTS:
            break
    return stored


def _by_series(stored: Iterable[tail.Stored]) -> dict[Key, list[Points]]:
    points: dict[Key, list[Points]] = defaultdict(list)
    for one in stored:
        for column in one.batch.columns:
            if column.num_points:
                points[one.batch.rank, column.name].append(tail.points_of(one, column))
    return points


def _write(points: Mapping[int, Sequence[Points]]) -> None:
    opened = _open_chunks(points)
    chunks: list[MetricChunk] = []
    for series_id, parts in points.items():
        number, before = opened.get(series_id, (0, None))
        whole = joined([*([before] if before else []), *parts]).sorted_by_step()
        chunks += _cut(series_id, number, whole)
    _save(chunks)
    count_in({series_id: joined(parts) for series_id, parts in points.items()})


def _open_chunks(series_ids: Iterable[int]) -> dict[int, tuple[int, Points | None]]:
    """Return where each series goes on: the number of its next chunk, and the points of one that has room."""
    newest = MetricChunk.objects.filter(series_id__in=list(series_ids)).order_by(
        "series_id", "-number"
    )
    rows = newest.distinct("series_id").values_list("series_id", "number", "num_points")
    opened: dict[int, tuple[int, Points | None]] = {}
    with_room = {}
    for series_id, number, num_points in rows:
        opened[series_id] = (number + 1, None)
        if num_points < CHUNK_POINTS:
            with_room[series_id] = number
    raws = newest.filter(series_id__in=with_room).distinct("series_id")
    for series_id, number, raw in raws.values_list("series_id", "number", "raw"):
        opened[series_id] = (number, unpack(raw).points)
    return opened


def _cut(series_id: int, number: int, points: Points) -> list[MetricChunk]:
    return [
        _chunk(series_id, number + at, points.take(slice(start, start + CHUNK_POINTS)))
        for at, start in enumerate(range(0, points.size, CHUNK_POINTS))
    ]


def _chunk(series_id: int, number: int, points: Points) -> MetricChunk:
    counts = levels.not_finite_counts(points.values, max(points.size, 1))
    shown = points.newest_of_each_step()
    return MetricChunk(
        series_id=series_id, number=number, num_points=points.size, num_not_finite=int(counts.sum()),
        min_step=int(points.steps.min()), max_step=int(points.steps.max()),
        min_tokens=int(points.tokens.min()), max_tokens=int(points.tokens.max()),
        min_time=int(points.times.min()), max_time=int(points.times.max()),
        raw=pack(points),
        **{f"level_{factor}": levels.packed(shown, factor) for factor in levels.FACTORS},
    )  # fmt: skip


def _save(chunks: Sequence[MetricChunk]) -> None:
    columns = [
        field.name
        for field in MetricChunk._meta.fields
        if field.name not in {"id", "series", "number"}
    ]
    MetricChunk.objects.bulk_create(
        chunks,
        batch_size=200,
        update_conflicts=True,
        unique_fields=["series", "number"],
        update_fields=columns,
    )
