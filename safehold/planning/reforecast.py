"""What a running training can expect from here, and how it has done so far (PLAN-5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from safehold.planning import useful_time
from safehold.planning.derived import DerivedSettings, derived_settings
from safehold.planning.failures import DEFAULT_RESTART_SECONDS, REPORTED, FailureRate
from safehold.planning.intervals import IntervalCost, costs
from safehold.planning.useful_time import UsefulTime

SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has come.

    Attributes:
        steps: Of the whole run.
        first_step: Step that it began from: that of the checkpoint of a fork.
        done_steps: Step that it has reached.
        step_seconds: Usual time of a step: the median of the newest ones.
        mean_step_seconds: Mean over all steps; evaluations and slow stretches make it longer.
        wall_seconds: Since its first attempt started.
        available_seconds: Since it was asked for: the queue too.
        anchor_every_steps: As its config says.
        nodes: Of the run.
    """

    steps: int
    done_steps: int
    step_seconds: float
    mean_step_seconds: float
    wall_seconds: float
    available_seconds: float
    nodes: int
    first_step: int = 0
    anchor_every_steps: int = 0


@dataclass(frozen=True, kw_only=True)
class Reforecast:
    """The forecast of a run under way.

    Attributes:
        useful: So far, by the three definitions.
        expected: From here on, by the definition over the wall clock of the job.
        left_seconds: Until the last step, losses counted.
        wall_days: Of the whole run: what is past and what is left.
        planned_days: What the card expected; None without one.
        choices: Intervals between anchors with their prices; empty while saves are not known.
        derived: Settings that the measured step time calls for.
    """

    progress: Progress
    useful: UsefulTime
    expected: float
    left_seconds: float
    wall_days: float
    planned_days: float | None
    rate: FailureRate
    restart_seconds: float
    save_seconds: float
    choices: Sequence[IntervalCost]
    derived: DerivedSettings

    @property
    def deviation(self) -> float | None:
        """Return by which share it takes longer than planned; below 0: it is faster."""
        return self.wall_days / self.planned_days - 1 if self.planned_days else None


def reforecast(
    progress: Progress,
    *,
    rate: FailureRate = REPORTED,
    restart_seconds: float = DEFAULT_RESTART_SECONDS,
    save_seconds: float = 0,
    planned_days: float | None = None,
) -> Reforecast | None:
    """Return what is left and how it has done; None before its steps have a known time.

    Args:
        progress: As measured.
        rate: Of the cluster.
        restart_seconds: Of the cluster.
        save_seconds: That an anchor stops the training; 0: not known, then it costs nothing.
        planned_days: What the card expected.
    """
    if not (progress.step_seconds > 0 and progress.mean_step_seconds > 0):
        return None
    choices = _choices(progress, rate, save_seconds)
    interval_steps = progress.anchor_every_steps or _advised(choices) or progress.steps
    expected = useful_time.expected_share(
        nodes=progress.nodes,
        failures_per_node_day=rate.per_node_day,
        restart_seconds=restart_seconds,
        interval_seconds=interval_steps * progress.mean_step_seconds,
        stall_seconds=save_seconds,
    )
    left_steps = max(0, progress.steps - progress.done_steps)
    left = left_steps * progress.mean_step_seconds / expected if expected else inf
    total = progress.available_seconds + left
    return Reforecast(
        progress=progress, useful=so_far(progress), expected=expected, left_seconds=left if left_steps else 0.0,
        wall_days=total / SECONDS_A_DAY, planned_days=planned_days, rate=rate, restart_seconds=restart_seconds,
        save_seconds=save_seconds, choices=choices,
        derived=derived_settings(
            steps=progress.steps, step_seconds=progress.step_seconds,
            anchor_every_steps=_advised(choices) or interval_steps, nodes=progress.nodes, total_seconds=total,
        ),
    )  # fmt: skip


def so_far(progress: Progress) -> UsefulTime:
    """Return the three ratios of what is past; net steps count, not those done over."""
    net = max(0, progress.done_steps - progress.first_step)
    productive = net * progress.mean_step_seconds
    wall = max(progress.wall_seconds, productive) or 1.0
    available = max(progress.available_seconds, wall)
    return UsefulTime(
        job_wall_clock=productive / wall,
        availability=productive / available,
        effective_training_time=min(1.0, net * progress.step_seconds / wall),
    )


def _choices(progress: Progress, rate: FailureRate, save_seconds: float) -> Sequence[IntervalCost]:
    between = rate.between_failures_seconds(progress.nodes)
    if not save_seconds or between == inf:
        return ()
    return costs(
        step_seconds=progress.mean_step_seconds,
        save_seconds=save_seconds,
        between_failures_seconds=between,
        most_steps=progress.steps,
    )


def _advised(choices: Sequence[IntervalCost]) -> int:
    return next((one.steps for one in choices if one.is_advised), 0)
