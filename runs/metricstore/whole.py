"""Every stored point of a run, one stretch of one series after another: what an export writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from runs.metricstore.chart import attempts_of, parts_of
from runs.metricstore.curve import Part
from runs.metricstore.points import Points
from runs.metricstore.reading import gather
from runs.metricstore.window import Range
from runs.models import Run, Series

# No level of detail suits so large a budget: the points themselves are read.
_ALL = 2**62
# How many points one block holds at most: bounds what an export keeps in memory beside the series it reads.
BLOCK_POINTS = 16_384


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Consecutive points of one metric, of one rank in one attempt, by rising step.

    Attributes:
        is_superseded: A later attempt did these steps over, or this one did.
    """

    name: str
    attempt: int
    rank: int
    is_superseded: bool
    points: Points


def blocks(*, run: Run, names: Collection[str] = (), live_only: bool = False) -> Iterator[Block]:
    """Yield all points of a run, by metric, rank and attempt; NaN and infinities as they are.

    Args:
        run: All its attempts are read, one metric at a time.
        names: Only these metrics; default: all.
        live_only: Leave out what a later attempt did over.
    """
    attempts = attempts_of(run)
    for name, rank in _series(run, names):
        within = Range(x="step", is_whole=True)
        found = gather(attempts, [name], within, _ALL, rank, attempts)
        own = {pk: one for pk in attempts if (one := found.get((name, pk))) is not None}
        for part in parts_of(own, attempts, within):
            for points, is_superseded in _sides(part):
                if not (live_only and is_superseded):
                    yield from _cut(name, part, points, is_superseded)


def _series(run: Run, names: Collection[str]) -> list[tuple[str, int]]:
    found = Series.objects.filter(attempt__run=run)
    if names:
        found = found.filter(name__in=names)
    return list(found.order_by("name", "rank").values_list("name", "rank").distinct())


def _sides(part: Part) -> Iterator[tuple[Points, bool]]:
    """Yield the newest point of each step, then those that it replaced."""
    steps = part.points.steps
    is_newest = np.append(steps[1:] != steps[:-1], True)
    yield part.points.take(is_newest), part.is_superseded
    yield part.points.take(~is_newest), True


def _cut(name: str, part: Part, points: Points, is_superseded: bool) -> Iterator[Block]:
    for start in range(0, points.size, BLOCK_POINTS):
        some = points.take(slice(start, start + BLOCK_POINTS))
        yield Block(name, part.attempt, part.rank, is_superseded, some)
