"""Which part of an axis is wanted, and where that cuts a curve. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from runs.metricstore import levels
from runs.metricstore.curve import Axis, Stretch, split
from runs.metricstore.points import INT_COLUMNS, Points, joined

LEAST, MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Edges:
    """Where a curve is cut: both ends of the wanted range, included, and the step that another attempt begins with."""

    x: Axis
    least: int
    most: int
    cut: int | None

    def reduced(self, points: Points, factor: int) -> Points:
        """Return what level `factor` keeps of the points within, on either side of the cut by itself."""
        if factor == 1:
            return points
        sides = split(self._inside(points.sorted_by_step().newest_of_each_step()), self.cut)
        return joined([levels.reduced(side, factor) for side in sides])

    def _inside(self, points: Points) -> Points:
        x = {"step": points.steps, "tokens": points.tokens, "time": points.times}[self.x]
        return points.take((x >= self.least) & (x <= self.most))


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The wanted part of an axis, both ends included; None = open.

    `slack` widens it (clock skew); `is_whole` reads every column of a point, not only what the axis needs, and also the
    points whose step came again in the same attempt.
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

    def edges(self, cut: int | None, stretch: Stretch | None) -> Edges:
        """Return where a curve is cut, on the sender's own clock."""
        ahead = stretch.skew_ms if stretch and self.x == "time" else 0
        start = None if self.start is None else self.start + ahead
        end = None if self.end is None else self.end + ahead
        return Edges(self.x, *_bounded(start, end), cut)

    @property
    def ends(self) -> tuple[int, int]:
        """Both ends as numbers of 64 bits."""
        start = None if self.start is None else self.start - self.slack
        return _bounded(start, None if self.end is None else self.end + self.slack)


def _bounded(start: int | None, end: int | None) -> tuple[int, int]:
    """Return both ends as numbers of 64 bits; None = open."""
    least = LEAST if start is None else min(max(LEAST, start), MOST)
    return least, MOST if end is None else min(max(LEAST, end), MOST)
