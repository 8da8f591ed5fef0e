"""How much of the time trains: three published ratios that must not be mixed (PLAN-5).

| name | definition | who uses it |
|---|---|---|
| job wall clock | productive training time / wall clock of the job | ByteRobust, Llama 3 |
| availability | productive run time / wall clock available to the run, waiting in the queue included | Meta's clusters |
| effective training time | iterations x iteration time / total time | MegaScale |
"""

from dataclasses import dataclass

SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class UsefulTime:
    """The three ratios, each between 0 and 1."""

    job_wall_clock: float
    availability: float
    effective_training_time: float


def expected_share(
    *,
    nodes: float,
    failures_per_node_day: float,
    restart_seconds: float,
    interval_seconds: float,
    stall_seconds: float = 0,
) -> float:
    """Return the expected job wall-clock ratio.

    One minus nodes x failures a node-day x (restart + half the interval), over one plus stall / interval.

    Source:
        Kokolis et al. 2025 (Revisiting Reliability), https://arxiv.org/abs/2410.21680
    """
    failures_a_second = nodes * failures_per_node_day / SECONDS_A_DAY
    lost = failures_a_second * (restart_seconds + interval_seconds / 2)
    return max(0.0, 1 - lost) / (1 + stall_seconds / interval_seconds)


def expected(
    *,
    productive_seconds: float,
    nodes: float,
    failures_per_node_day: float,
    restart_seconds: float,
    interval_seconds: float,
    stall_seconds: float = 0,
    queue_seconds: float = 0,
    slowdown: float = 1.0,
) -> UsefulTime:
    """Return the three ratios that a run can expect.

    Args:
        productive_seconds: Of the whole training, without any loss.
        nodes: Of the run; each may fail.
        failures_per_node_day: Of one node.
        restart_seconds: From a failure to the next step.
        interval_seconds: Between checkpoints.
        stall_seconds: That one save stops the training.
        queue_seconds: Waiting for devices, at the start and after each failure.
        slowdown: Mean over usual step time: evaluations and slow stretches make it more than 1.
    """
    share = expected_share(
        nodes=nodes,
        failures_per_node_day=failures_per_node_day,
        restart_seconds=restart_seconds,
        interval_seconds=interval_seconds,
        stall_seconds=stall_seconds,
    )
    if share <= 0:
        return UsefulTime(job_wall_clock=0, availability=0, effective_training_time=0)
    wall_seconds = productive_seconds / share
    num_waits = 1 + wall_seconds / SECONDS_A_DAY * nodes * failures_per_node_day
    return UsefulTime(
        job_wall_clock=share,
        availability=min(share, productive_seconds / (wall_seconds + num_waits * queue_seconds)),
        effective_training_time=share / max(1.0, slowdown),
    )
