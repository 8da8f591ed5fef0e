"""The names that an attempt logs, and the sums kept with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from django.db import connection

from runs.metricstore.points import Points
from runs.models import Series

Key = tuple[int, str]  # rank, name

_INSERT = """
INSERT INTO runs_series (attempt_id, rank, name, num_points, num_not_finite)
SELECT %s, rank, name, 0, 0 FROM unnest(%s::int[], %s::text[]) AS wanted (rank, name)
ON CONFLICT (attempt_id, rank, name) DO NOTHING
"""
_COUNT = """
UPDATE runs_series AS series SET
  num_points = series.num_points + new.num_points,
  num_not_finite = series.num_not_finite + new.num_not_finite,
  min_step = least(series.min_step, new.min_step),
  last_value = CASE WHEN series.max_step > new.max_step THEN series.last_value ELSE new.last_value END,
  max_step = greatest(series.max_step, new.max_step),
  min_value = least(series.min_value, new.min_value),
  max_value = greatest(series.max_value, new.max_value)
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::float8[],
            %s::float8[], %s::float8[])
  AS new (id, num_points, num_not_finite, min_step, max_step, last_value, min_value, max_value)
WHERE series.id = new.id
"""


def make_known(attempt_id: int, keys: Collection[Key]) -> None:
    """Make a row for each name that has none. Sorted, so that two writers never wait for each other in a ring."""
    ordered = sorted(keys)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT, [attempt_id, [rank for rank, _ in ordered], [name for _, name in ordered]]
        )


def ids_of(attempt_id: int, keys: Collection[Key]) -> dict[Key, int]:
    """Return the id of each series; unknown ones are made."""
    found = _ids(attempt_id)
    if missing := [key for key in keys if key not in found]:
        make_known(attempt_id, missing)
        found = _ids(attempt_id)
    return {key: found[key] for key in keys}


def count_in(new: Mapping[int, Points]) -> None:
    """Add points that were moved into chunks to the sums of their series."""
    rows = [(series_id, *_sums(new[series_id])) for series_id in sorted(new) if new[series_id].size]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [list(column) for column in zip(*rows, strict=True)])


def _ids(attempt_id: int) -> dict[Key, int]:
    rows = Series.objects.filter(attempt_id=attempt_id).values_list("rank", "name", "pk")
    return {(rank, name): pk for rank, name, pk in rows}


def _sums(points: Points) -> tuple[int, int, int, int, float, float | None, float | None]:
    finite = points.values[np.isfinite(points.values)]
    newest = points.size - 1 - int(points.steps[::-1].argmax())
    return (
        points.size,
        points.size - finite.size,
        int(points.steps.min()),
        int(points.steps.max()),
        float(points.values[newest]),
        float(finite.min()) if finite.size else None,
        float(finite.max()) if finite.size else None,
    )
