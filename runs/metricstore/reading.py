"""Reading points of a run: chunks at the level that is wanted, then the batches not yet compacted.

The tail is read before the chunks: a batch that compaction moves in between is then met twice, never missed,
and one point a step is kept in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runs.metricstore import levels, tail
from runs.metricstore.curve import Axis
from runs.metricstore.points import INT_COLUMNS, Points, joined
from runs.metricstore.sql import rows

Key = tuple[str, int]  # name, attempt id
_LEAST, _MOST = -(2**63), 2**63 - 1
_SERIES = """
SELECT name, attempt_id, rank, id, num_points, num_not_finite, min_step, max_step, last_value
FROM runs_series WHERE attempt_id = ANY(%s::bigint[]) AND name = ANY(%s::text[])
  AND %s::bigint IN (-1, rank) ORDER BY rank DESC
"""
_EXTENTS = """
SELECT series_id, num_points, min_{x}, max_{x} FROM runs_metricchunk
WHERE series_id = ANY(%s::bigint[]) AND max_{x} >= %s::bigint AND min_{x} <= %s::bigint
"""
_CHUNKS = """
SELECT series_id, {column} FROM runs_metricchunk
WHERE series_id = ANY(%s::bigint[]) AND max_{x} >= %s::bigint AND min_{x} <= %s::bigint
ORDER BY series_id, number
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The wanted part of an axis, both ends included; None = open.

    `slack` widens it (clock skew); `is_whole` reads every column of a point, not only what the axis needs.
    """

    x: Axis
    start: int | None = None
    end: int | None = None
    slack: int = 0
    is_whole: bool = False

    @property
    def is_open(self) -> bool:
        """Whether all is wanted."""
        return self.start is None and self.end is None

    def share(self, least: int, most: int) -> float:
        """Return which share of a stretch of the axis lies within, were its points spread evenly."""
        start, end = self.ends
        return max(0.0, (min(end, most) - max(start, least) + 1) / (most - least + 1))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of points that a reader of this axis needs; others come as zeros from chunks."""
        if self.is_whole:
            return INT_COLUMNS
        return (
            ("steps",)
            if self.x == "step"
            else ("steps", "tokens" if self.x == "tokens" else "times")
        )

    @property
    def ends(self) -> tuple[int, int]:
        """Both ends as numbers of 64 bits."""
        start = _LEAST if self.start is None else max(_LEAST, self.start - self.slack)
        end = _MOST if self.end is None else min(_MOST, self.end + self.slack)
        return start, end


@dataclass(slots=True, eq=False)
class Found:
    """What is stored of one name in one attempt, by rank; `factor` is the level that was read."""

    rank: int = 0
    series_id: int | None = None
    num_points: int = 0
    num_not_finite: int = 0
    min_step: int | None = None
    max_step: int | None = None
    last_value: float | None = None
    factor: int = 1
    tail: list[Points] = field(default_factory=list)
    points: Points | None = None

    def add(self, points: Points) -> None:
        """Add points of the tail."""
        self.tail.append(points)
        least = int(points.steps.min())
        self.min_step = least if self.min_step is None else min(self.min_step, least)


def gather(
    attempt_ids: Collection[int],
    names: Collection[str],
    within: Range,
    budget: int,
    rank: int | None = None,
) -> dict[Key, Found]:
    """Return the points of each name and attempt, sorted by step, at a level that suits the budget."""
    stored = tail.read(attempt_ids)
    found = _series(attempt_ids, names, rank)
    _add_tail(found, stored, names, rank)
    by_series = {one.series_id: one for one in found.values() if one.series_id is not None}
    _choose_levels(found, by_series, within, budget)
    chunks = _chunks(by_series, within)
    for one in found.values():
        ends = [levels.reduced(joined(one.tail), one.factor)] if one.tail else []
        whole = levels.unpacked(chunks[one.series_id], one.factor, within.columns)
        one.points = joined([whole, *ends]).sorted_by_step().newest_of_each_step()
    return found


def _series(
    attempt_ids: Collection[int], names: Collection[str], rank: int | None
) -> dict[Key, Found]:
    found: dict[Key, Found] = {}
    for row in rows(_SERIES, list(attempt_ids), list(names), -1 if rank is None else rank):
        found[row[0], row[1]] = Found(*row[2:])  # the lowest rank comes last and stands
    return found


def _add_tail(
    found: dict[Key, Found],
    stored: Iterable[tail.Stored],
    names: Collection[str],
    rank: int | None,
) -> None:
    for one in stored:
        if rank is not None and one.batch.rank != rank:
            continue
        for name in names:
            column = one.columns.get(name)
            if column is None or not column.num_points:
                continue
            held = found.setdefault((name, one.attempt_id), Found(rank=one.batch.rank))
            if held.rank == one.batch.rank:
                held.add(tail.points_of(one, column))


def _choose_levels(
    found: Mapping[Key, Found], by_series: Mapping[int, Found], within: Range, budget: int
) -> None:
    wanted = {pk: float(one.num_points) for pk, one in by_series.items()}
    if not within.is_open and by_series:
        wanted = _estimated(by_series, within)
    sums: dict[str, float] = defaultdict(float)
    for (name, _), one in found.items():
        sums[name] += wanted.get(one.series_id or 0, 0) + sum(_count(p, within) for p in one.tail)
    for (name, _), one in found.items():
        one.factor = levels.factor_for(int(sums[name]), budget)


def _estimated(series_ids: Iterable[int], within: Range) -> dict[int, float]:
    wanted: dict[int, float] = defaultdict(float)
    query = _EXTENTS.format(x=within.x)
    for pk, num_points, least, most in rows(query, list(series_ids), *within.ends):
        wanted[pk] += num_points * within.share(least, most)
    return wanted


def _count(points: Points, within: Range) -> int:
    if within.is_open:
        return points.size
    x = {"step": points.steps, "tokens": points.tokens, "time": points.times}[within.x]
    least, most = within.ends
    return int(((x >= least) & (x <= most)).sum())


def _chunks(by_series: Mapping[int, Found], within: Range) -> dict[int | None, list[memoryview]]:
    chunks: dict[int | None, list[memoryview]] = defaultdict(list)
    groups: dict[int, list[int]] = defaultdict(list)
    for pk, one in by_series.items():
        groups[one.factor].append(pk)
    for factor, series_ids in groups.items():
        for series_id, data in _rows(series_ids, factor, within):
            chunks[series_id].append(data)
    return chunks


def _rows(
    series_ids: Sequence[int], factor: int, within: Range
) -> Iterable[tuple[int, memoryview]]:
    column = "raw" if factor == 1 else f"level_{factor}"
    query = _CHUNKS.format(x=within.x, column=column)
    return rows(query, list(series_ids), *within.ends)
