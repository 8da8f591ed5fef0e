"""When a verified checkpoint may be called stable: a healthy stretch of loss followed it.

Pure: the points are read by `checkpoints.services.stability`.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

# The average looks back over so many points: long enough to smooth one batch, short enough to follow
# the fast fall at the start of a training. A guess.
WINDOW_POINTS = 20
# Fewer points are no stretch, however many steps lie between them. A guess.
FEWEST_POINTS = 5


class Health(StrEnum):
    """What the loss after a checkpoint says."""

    TOO_EARLY = "too_early"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True)
class Point:
    """One value of the loss."""

    step: int
    value: float


@dataclass(frozen=True)
class Judgement:
    """The health of a stretch, and the reason as a sentence."""

    health: Health
    reason: str


def judge(
    points: Sequence[Point], *, step: int, num_steps: int, most_rise: float = 0.2
) -> Judgement:
    """Judge the loss that follows the checkpoint at `step`.

    Args:
        points: The loss of one attempt, in order of steps; points up to `step` only feed the average.
        step: The step of the checkpoint.
        num_steps: How long the stretch must be.
        most_rise: How far one value may lie above the moving average, as a share of it.

    Returns:
        Too early while the stretch is neither long enough nor broken; unhealthy at the first value
        that is not finite or jumps.
    """
    later = 0
    for point, average in _with_average(points):
        if point.step <= step:
            continue
        fault = _fault(point, average, most_rise)
        if fault:
            return Judgement(Health.UNHEALTHY, fault)
        later += 1
        if point.step >= step + num_steps and later >= FEWEST_POINTS:
            return Judgement(
                Health.HEALTHY,
                f"The loss stayed healthy from step {step} to {point.step} ({later} points).",
            )
    return Judgement(
        Health.TOO_EARLY, f"{later} points of loss follow; {num_steps} steps are needed."
    )


def _with_average(points: Iterable[Point]) -> Iterator[tuple[Point, float | None]]:
    window: deque[float] = deque(maxlen=WINDOW_POINTS)
    for point in points:
        yield point, sum(window) / len(window) if window else None
        if math.isfinite(point.value):
            window.append(point.value)


def _fault(point: Point, average: float | None, most_rise: float) -> str:
    if not math.isfinite(point.value):
        return f"The loss was not finite at step {point.step}."
    if average is not None and point.value > average + most_rise * abs(average):
        rise = (point.value - average) / abs(average) if average else math.inf
        return (
            f"The loss rose {rise:.0%} above its average at step {point.step} "
            f"({average:.4g} to {point.value:.4g})."
        )
    return ""
