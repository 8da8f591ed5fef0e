"""Settings that follow from a measured step time (PLAN-3)."""

from dataclasses import dataclass

ALERT_WINDOW_STEPS = 100  # the moving average of the loss rules looks back so far
# Below 5 minutes a slow step is taken for a hang, above 10 a hang costs too much: the span of HW-3.
LEAST_TIMEOUT_SECONDS, MOST_TIMEOUT_SECONDS = 300.0, 600.0
_TIMEOUT_STEPS = 20  # a step this many times as long as usual hangs; a guess
_MANY_NODES = 64  # from here on joining and the first collective take minutes of their own; a guess
# Snapshots do not stop the step; every few tens of steps, and not more often than once a minute.
_LEAST_SNAPSHOT_STEPS, _MOST_SNAPSHOT_STEPS, _SNAPSHOT_SECONDS = 10, 100, 60.0


@dataclass(frozen=True, kw_only=True)
class DerivedSettings:
    """What a config should say once the step time is known.

    Attributes:
        total_seconds: Of the whole run.
        snapshot_every_steps: 0 where anchors are as frequent already.
        collective_timeout_seconds: Between 5 and 10 minutes.
    """

    total_seconds: float
    anchor_every_steps: int
    snapshot_every_steps: int
    alert_window_steps: int
    collective_timeout_seconds: float


def derived_settings(
    *, steps: int, step_seconds: float, anchor_every_steps: int, nodes: int, total_seconds: float
) -> DerivedSettings:
    """Return the settings that a run of `steps` should have; nothing is longer than the run."""
    anchors = max(1, min(anchor_every_steps, steps))
    snapshots = round(_SNAPSHOT_SECONDS / step_seconds) if step_seconds else 0
    snapshots = min(_MOST_SNAPSHOT_STEPS, max(_LEAST_SNAPSHOT_STEPS, snapshots))
    return DerivedSettings(
        total_seconds=total_seconds,
        anchor_every_steps=anchors,
        snapshot_every_steps=snapshots if snapshots < anchors else 0,
        alert_window_steps=ALERT_WINDOW_STEPS,
        collective_timeout_seconds=collective_timeout_seconds(step_seconds, nodes),
    )


def collective_timeout_seconds(step_seconds: float, nodes: int) -> float:
    """Return how long a collective may take before the run counts as hung."""
    least = MOST_TIMEOUT_SECONDS if nodes >= _MANY_NODES else LEAST_TIMEOUT_SECONDS
    return min(MOST_TIMEOUT_SECONDS, max(least, _TIMEOUT_STEPS * step_seconds))
