"""What a card can expect: useful time, days, and how often to save (PLAN-2, PLAN-3, PLAN-5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from safehold.planning import useful_time
from safehold.planning.card import CardFields
from safehold.planning.card_sums import checkpoint_bytes_of, nodes_of, step_seconds_of, steps_of
from safehold.planning.derived import DerivedSettings, derived_settings
from safehold.planning.failures import (
    DEFAULT_RESTART_SECONDS,
    REPORTED,
    FailureRate,
    stated_rate,
)
from safehold.planning.intervals import IntervalCost, assumed_save_seconds, costs
from safehold.planning.useful_time import UsefulTime

SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class ClusterHistory:
    """What a cluster has shown; the defaults say that nothing is known.

    Attributes:
        restart_seconds: Median from the end of an attempt to the next one's first step; 0: none was seen.
        save_seconds: Median of anchors; 0: none was seen.
    """

    name: str = ""
    rate: FailureRate = REPORTED
    restart_seconds: float = 0
    save_seconds: float = 0


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What the card shows of the time to come.

    Attributes:
        sources: Where rate, restart and save time come from: stated, learned or default.
        expected_failures: In the whole run.
        wall_days: Of the whole run, losses counted; the queue too.
    """

    steps: int
    step_seconds: float
    nodes: int
    rate: FailureRate
    restart_seconds: float
    save_seconds: float
    sources: dict[str, str]
    choices: Sequence[IntervalCost]
    useful: UsefulTime
    expected_failures: float
    wall_days: float
    derived: DerivedSettings

    @property
    def failures_per_1000_node_days(self) -> float:
        """Return the rate as it is usually reported."""
        return self.rate.per_node_day * 1000

    @property
    def advised(self) -> IntervalCost:
        """Return the interval that loses least."""
        return next(one for one in self.choices if one.is_advised)


def forecast(card: CardFields, history: ClusterHistory | None = None) -> Forecast | None:
    """Return the forecast of a card, or None while steps or step time are not known.

    Args:
        card: What somebody wrote down counts first.
        history: Of its cluster; counts where the card says nothing. Reported defaults stand for what is left.
    """
    steps, step_seconds = steps_of(card), step_seconds_of(card)
    if not (steps and step_seconds):
        return None
    known = history or ClusterHistory()
    rate = _rate(card, known)
    restart, restart_source = _chosen(
        card.plan.restart_minutes * 60, known.restart_seconds, DEFAULT_RESTART_SECONDS
    )
    save, save_source = _chosen(
        card.plan.save_seconds, known.save_seconds, assumed_save_seconds(checkpoint_bytes_of(card))
    )
    return _forecast(
        card, steps=steps, step_seconds=step_seconds, rate=rate, restart_seconds=restart, save_seconds=save,
        sources={"rate": rate.source, "restart": restart_source, "save": save_source},
    )  # fmt: skip


def _forecast(
    card: CardFields,
    *,
    steps: int,
    step_seconds: float,
    rate: FailureRate,
    restart_seconds: float,
    save_seconds: float,
    sources: dict[str, str],
) -> Forecast:
    nodes = nodes_of(card)
    between = rate.between_failures_seconds(nodes)
    choices = costs(
        step_seconds=step_seconds,
        save_seconds=save_seconds,
        between_failures_seconds=between,
        most_steps=steps,
    )
    interval = next(one for one in choices if one.is_advised)
    productive = steps * step_seconds
    useful = useful_time.expected(
        productive_seconds=productive, nodes=nodes, failures_per_node_day=rate.per_node_day,
        restart_seconds=restart_seconds, interval_seconds=interval.seconds, stall_seconds=save_seconds,
        queue_seconds=card.plan.queue_minutes * 60,
    )  # fmt: skip
    wall_seconds = productive / useful.availability if useful.availability else float("inf")
    return Forecast(
        steps=steps, step_seconds=step_seconds, nodes=nodes, rate=rate, restart_seconds=restart_seconds,
        save_seconds=save_seconds, sources=sources, choices=choices, useful=useful,
        expected_failures=wall_seconds / between, wall_days=wall_seconds / SECONDS_A_DAY,
        derived=derived_settings(
            steps=steps, step_seconds=step_seconds, anchor_every_steps=interval.steps, nodes=nodes,
            total_seconds=wall_seconds,
        ),
    )  # fmt: skip


def _rate(card: CardFields, known: ClusterHistory) -> FailureRate:
    if card.plan.failures_per_1000_node_days:
        return stated_rate(card.plan.failures_per_1000_node_days)
    return known.rate


def _chosen(stated: float, learned: float, default: float) -> tuple[float, str]:
    if stated:
        return stated, "stated"
    return (learned, "learned") if learned else (default, "default")
