"""Reading points of a run: chunks at the level that is wanted, then the batches not yet compacted.

The tail is read before the chunks: a batch that compaction moves in between is then met twice, never missed,
and one point a step is kept in the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from runs.metricstore import levels, tail
from runs.metricstore.chunks import Stored, Wanted, read
from runs.metricstore.curve import Stretch, cuts_of
from runs.metricstore.points import Points
from runs.metricstore.sql import rows
from runs.metricstore.window import MOST, Edges, Range

Key = tuple[str, int]  # name, attempt id
_NO_STRETCHES: Mapping[int, Stretch] = MappingProxyType({})
_SERIES = """
SELECT DISTINCT ON (attempt_id, name)
  name, attempt_id, rank, id, num_points, num_not_finite, min_step, max_step, last_value
FROM runs_series WHERE attempt_id = ANY(%s::bigint[]) AND name = ANY(%s::text[])
  AND %s::bigint IN (-1, rank) ORDER BY attempt_id, name, rank
"""
_EXTENTS = """
SELECT series_id, num_points, min_{x}, max_{x} FROM runs_metricchunk
WHERE series_id = ANY(%s::bigint[]) AND max_{x} >= %s::bigint AND min_{x} <= %s::bigint
"""


@dataclass(slots=True, eq=False)
class Found:
    """What is stored of one name in one attempt, by rank.

    Attributes:
        cut: Step from which later attempts replace it; None = nowhere.
        factor: The level that was read.
    """

    rank: int = 0
    series_id: int | None = None
    num_points: int = 0
    num_not_finite: int = 0
    min_step: int | None = None
    max_step: int | None = None
    last_value: float | None = None
    cut: int | None = None
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
    stretches: Mapping[int, Stretch] = _NO_STRETCHES,
) -> dict[Key, Found]:
    """Return the points of each name and attempt, sorted by step, at a level that suits the budget.

    Args:
        attempt_ids: Which attempts.
        names: Metrics.
        within: What is wanted; points beyond it may come too.
        budget: About so many points are wanted of each name.
        rank: Only this rank; default: of each attempt the lowest one that logs the metric.
        stretches: Of one run, where attempts replace each other: no level is read across such a step.
    """
    batches = tail.read(attempt_ids)
    found = _series(attempt_ids, names, rank)
    _add_tail(found, batches, names, rank)
    by_series = {one.series_id: one for one in found.values() if one.series_id is not None}
    _choose_levels(found, by_series, within, budget)
    edges = _edges(found, within, stretches)
    chunks = _chunks(found, edges, within)
    for key, one in found.items():
        stored = chunks.get(one.series_id or 0, Stored())
        points = stored.points(one.tail, edges[key], one.factor, within.columns)
        one.points = points.each_once() if within.is_whole else points.newest_of_each_step()
    return found


def _edges(
    found: Mapping[Key, Found], within: Range, stretches: Mapping[int, Stretch]
) -> dict[Key, Edges]:
    first_steps: dict[str, dict[int, int | None]] = defaultdict(dict)
    for (name, pk), one in found.items():
        first_steps[name][pk] = one.min_step
    edges = {}
    for name, of_name in first_steps.items():
        cuts = cuts_of(of_name, stretches)
        for pk in of_name:
            found[name, pk].cut = cuts.get(pk)
            edges[name, pk] = within.edges(cuts.get(pk), stretches.get(pk))
    return edges


def _series(
    attempt_ids: Collection[int], names: Collection[str], rank: int | None
) -> dict[Key, Found]:
    found: dict[Key, Found] = {}
    for row in rows(_SERIES, list(attempt_ids), list(names), -1 if rank is None else rank):
        found[row[0], row[1]] = Found(*row[2:])
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


def _chunks(
    found: Mapping[Key, Found], edges: Mapping[Key, Edges], within: Range
) -> Mapping[int, Stored]:
    groups: dict[int, dict[int, Wanted]] = defaultdict(dict)
    for key, one in found.items():
        if one.series_id is not None:
            first = min((int(points.steps.min()) for points in one.tail), default=MOST)
            groups[one.factor][one.series_id] = Wanted(edges[key], first)
    chunks: dict[int, Stored] = {}
    for factor, wanted in groups.items():
        chunks |= read(wanted, within.x, factor)
    return chunks
