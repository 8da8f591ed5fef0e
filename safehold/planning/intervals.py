"""How often to save: what saving costs against what a crash loses (PLAN-2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, log10, sqrt

HOUR_SECONDS = (
    3600.0  # where saves or failures are not known: what Kokolis et al. 2025 report as usual
)
# Where no save was measured: a guess of what a shared file system takes from one job, and the 5 minutes that Kokolis
# et al. 2025 (arXiv 2410.21680) report as usual, whichever is less.
ASSUMED_WRITE_BYTES_PER_SECOND = 1e9
MOST_ASSUMED_SAVE_SECONDS = 300.0
# Around the optimum: what is shown beside the advised interval, so that the price of another choice can be seen.
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, kw_only=True)
class IntervalCost:
    """One choice of the interval.

    Attributes:
        saving_share: Time that the training stands still to save, over the time between saves.
        lost_share: Work that crashes throw away: half an interval each.
        is_advised: Whether it is the cheapest.
    """

    steps: int
    seconds: float
    saving_share: float
    lost_share: float
    is_advised: bool = False

    @property
    def total_share(self) -> float:
        """Return both together."""
        return self.saving_share + self.lost_share


def optimum_seconds(*, save_seconds: float, between_failures_seconds: float) -> float:
    """Return the time between saves that loses least: √(2 · save · mean time between failures).

    Source:
        Young 1974, https://doi.org/10.1145/361147.361115; Daly 2006, https://doi.org/10.1016/j.future.2004.11.016
    """
    return sqrt(2 * save_seconds * between_failures_seconds)


def steps_in(seconds: float, step_seconds: float) -> float:
    """Return the steps of a stretch of time: 1,800 an hour at 2 s a step."""
    return seconds / step_seconds


def rounded_steps(steps: float) -> int:
    """Return a number that people can remember: one significant digit, 1,800 becomes 2,000."""
    if steps < 1:
        return 1
    power: int = 10 ** floor(log10(steps))
    return floor(steps / power + 0.5) * power


def anchor_steps(
    *, step_seconds: float, save_seconds: float = 0, between_failures_seconds: float = 0
) -> int:
    """Return the advised steps between anchors; one hour where saves or failures are not known."""
    known = save_seconds > 0 and 0 < between_failures_seconds < inf
    seconds = (
        optimum_seconds(
            save_seconds=save_seconds, between_failures_seconds=between_failures_seconds
        )
        if known
        else HOUR_SECONDS
    )
    return rounded_steps(steps_in(seconds, step_seconds))


def assumed_save_seconds(checkpoint_bytes: float) -> float:
    """Return how long an anchor stops the training where nobody has measured it; 0 bytes: not known."""
    if not checkpoint_bytes:
        return MOST_ASSUMED_SAVE_SECONDS
    return min(MOST_ASSUMED_SAVE_SECONDS, checkpoint_bytes / ASSUMED_WRITE_BYTES_PER_SECOND)


def costs(
    *,
    step_seconds: float,
    save_seconds: float,
    between_failures_seconds: float,
    most_steps: float = inf,
) -> Sequence[IntervalCost]:
    """Return the choices around the advised interval, shortest first.

    Args:
        step_seconds: Of one step.
        save_seconds: That an anchor stops the training.
        between_failures_seconds: Mean time between failures of the run.
        most_steps: Of the run: no interval is longer.
    """
    optimum = anchor_steps(
        step_seconds=step_seconds,
        save_seconds=save_seconds,
        between_failures_seconds=between_failures_seconds,
    )
    advised = round(min(optimum, most_steps))
    asked = {max(1, round(advised * factor)) for factor in _FACTORS}
    choices = sorted(steps for steps in asked if steps <= most_steps)
    return tuple(
        IntervalCost(
            steps=steps,
            seconds=steps * step_seconds,
            saving_share=save_seconds / (steps * step_seconds),
            lost_share=steps * step_seconds / 2 / between_failures_seconds,
            is_advised=steps == advised,
        )
        for steps in choices
    )
