"""What a person sees of stored points: which attempt has a step, what is superseded, what is thinned away.

Pure: no database.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from runs.metricstore.levels import thinned
from runs.metricstore.points import Points

Axis = Literal["tokens", "step", "time"]
AXES: tuple[Axis, ...] = ("tokens", "step", "time")
MAX_MARKS = 200
# Of a part, however many there are: both ends, the smallest and the largest point.
MIN_SHOWN = 4
# Beyond it a number in JSON is no longer exact in a browser.
_EXACT = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Where an attempt begins, as far as its curve depends on it.

    Attributes:
        number: Of the attempt.
        start_step: Step of the checkpoint it began from; None for a fresh start.
        has_begun: Whether it has done a step; before that it replaces nothing.
        skew_ms: How far its clock is ahead, where that is flagged, else 0.
    """

    number: int
    start_step: int | None = None
    has_begun: bool = True
    skew_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A stretch of one attempt, one point a step."""

    attempt: int
    rank: int
    is_superseded: bool
    is_raw: bool
    points: Points
    x: NDArray[np.int64]


def cut_of(stretch: Stretch, first_step: int | None) -> int | None:
    """Return the step from which an attempt replaces all earlier ones; None = nowhere yet.

    Attempt 2 went on from the checkpoint of step 200: whatever attempt 1 has from step 201 on is work done
    over, also of a metric that attempt 2 has not logged yet. A fresh start replaces what it logs over.
    """
    if stretch.start_step is None or not stretch.has_begun:
        return first_step
    after = stretch.start_step + 1
    return after if first_step is None else min(after, first_step)


def cuts_of(
    first_steps: Mapping[int, int | None], stretches: Mapping[int, Stretch]
) -> dict[int, int | None]:
    """Return for each attempt the step from which later ones replace it; None = nowhere.

    Args:
        first_steps: The first step of one metric in each attempt that has it.
        stretches: All attempts, in their order.
    """
    cuts: dict[int, int | None] = {}
    cut: int | None = None
    for pk, stretch in reversed(list(stretches.items())):
        cuts[pk] = cut
        here = cut_of(stretch, first_steps.get(pk))
        cut = here if cut is None else cut if here is None else min(cut, here)
    return cuts


def split(points: Points, cut: int | None) -> tuple[Points, Points]:
    """Return (what stands, what is superseded) of points sorted by step."""
    if cut is None:
        return points, points.take(slice(0, 0))
    at = int(np.searchsorted(points.steps, cut))
    return points.take(slice(0, at)), points.take(slice(at, None))


def axis_of(points: Points, x: Axis, skew_ms: int) -> NDArray[np.int64]:
    """Return the positions on the x axis; -1 in tokens = unknown."""
    if x == "step":
        return points.steps
    return points.tokens if x == "tokens" else points.times - skew_ms


def budgets(sizes: Sequence[int], total: int) -> list[int]:
    """Return how many points each part may show, in proportion, at most `total` in all, but `MIN_SHOWN` of each."""
    free, whole = max(0, total - MIN_SHOWN * len(sizes)), max(sum(sizes), 1)
    return [MIN_SHOWN + free * size // whole for size in sizes]


def drawn(part: Part, budget: int) -> dict[str, Any]:
    """Return the part as the chart's document has it: finite points thinned to `budget`, marks beside them."""
    order = np.argsort(part.x, kind="stable")
    points, x = part.points.take(order), part.x[order]
    finite = np.isfinite(points.values)
    curve, curve_x = points.take(finite), x[finite]
    keep = thinned(curve.values, budget)
    return {
        "attempt": part.attempt,
        "rank": part.rank,
        "superseded": part.is_superseded,
        "is_raw": part.is_raw and curve.size <= budget,
        "x": curve_x[keep].tolist(),
        "steps": exact(curve.steps[keep]),
        "values": curve.values[keep].tolist(),
        "marks": _marks(points.take(~finite), x[~finite]),
    }


def exact(steps: NDArray[np.int64]) -> list[int | str]:
    """Return steps as JSON can carry them: as text where a browser would round."""
    if steps.size == 0 or int(steps.max()) <= _EXACT:
        plain: list[int | str] = steps.tolist()
        return plain
    return [step if step <= _EXACT else str(step) for step in steps.tolist()]


def step_array(step: int) -> NDArray[np.int64]:
    """Return one step as an array."""
    return np.array([step], dtype=np.int64)


def num_not_finite(points: Points) -> int:
    """Return how many values are NaN or infinite."""
    return points.size - int(np.isfinite(points.values).sum())


def spoken(value: float) -> float | str:
    """Return a value as JSON can carry it."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _marks(points: Points, x: NDArray[np.int64]) -> list[Mapping[str, Any]]:
    some = points.take(slice(0, MAX_MARKS))
    rows = zip(x.tolist(), exact(some.steps), some.values.tolist(), strict=False)
    return [{"x": at, "step": step, "value": spoken(value)} for at, step, value in rows]
