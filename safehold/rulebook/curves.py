"""What the curves of an earlier run say: the spread of its gradient norm, and a saw-tooth in its loss. Pure."""

import math
from collections.abc import Sequence
from statistics import fmean, median, pstdev

LATE_SHARE = 0.5  # what counts as late in training: the second half
MIN_POINTS = 40
# A tooth: a fall of more than so many times the usual step, after a climb; ours, tried on made curves.
FALL_OVER_USUAL = 6.0
MIN_TEETH = 3


def spread_of(norms: Sequence[float]) -> tuple[float, float] | None:
    """Return mean and standard deviation of a gradient norm, spikes left out; None of too few points.

    A point above five times the median is a spike, as the alert rules say.
    """
    finite = [norm for norm in norms if math.isfinite(norm)]
    if len(finite) < MIN_POINTS:
        return None
    usual = median(finite)
    calm = [norm for norm in finite if norm <= 5 * usual]
    return fmean(calm), pstdev(calm)


def is_saw_tooth(losses: Sequence[float]) -> bool:
    """Whether the late loss climbs slowly and falls at once, at least three times."""
    late = [loss for loss in losses[int(len(losses) * (1 - LATE_SHARE)) :] if math.isfinite(loss)]
    if len(late) < MIN_POINTS:
        return False
    steps = [after - before for before, after in zip(late, late[1:], strict=False)]
    usual = median(abs(step) for step in steps) or math.ulp(1.0)
    falls = [number for number, step in enumerate(steps) if step < -FALL_OVER_USUAL * usual]
    return (
        sum(_climbs(steps, start, end) for start, end in zip([-1, *falls], falls, strict=False))
        >= MIN_TEETH
    )


def _climbs(steps: Sequence[float], start: int, end: int) -> bool:
    """Whether the loss rose in most steps between two falls, and won back what it fell."""
    between = steps[start + 1 : end]
    if len(between) < 4:
        return False
    return (
        sum(step > 0 for step in between) > 0.7 * len(between) and sum(between) > -0.5 * steps[end]
    )
