from typing import Any

import pytest

from safehold.planning import parse_card
from safehold.planning.derived import collective_timeout_seconds, derived_settings
from safehold.planning.failures import learned_rate
from safehold.planning.forecast import ClusterHistory, forecast

CARD: dict[str, Any] = {
    "network": {"parameters": 70e9, "sequence_length": 4096},
    "data": {"tokens": 100_000_000_000},
    "compute": {"devices": 512, "peak_tflops_per_device": 300, "mfu": 0.5},
}


def test_nothing_is_forecast_while_steps_are_not_known() -> None:
    assert forecast(parse_card({})) is None
    assert forecast(parse_card({"data": {"tokens": 10}})) is None


def test_the_reported_defaults_stand_for_what_nobody_knows() -> None:
    found = forecast(parse_card(CARD))
    assert found is not None
    assert found.sources == {"rate": "default", "restart": "default", "save": "default"}
    assert found.rate.per_node_day == 0.005
    assert (found.restart_seconds, found.save_seconds, found.nodes) == (600, 300, 64)
    assert found.wall_days == pytest.approx(6.33 / found.useful.availability, rel=0.001)
    assert found.expected_failures == pytest.approx(found.wall_days * 64 * 0.005)
    assert 0.9 < found.useful.job_wall_clock < 1


def test_what_the_cluster_has_shown_replaces_the_defaults() -> None:
    known = ClusterHistory(
        name="lab",
        rate=learned_rate(num_failures=80, node_days=10_000),
        restart_seconds=120,
        save_seconds=20,
    )
    found = forecast(parse_card(CARD), known)
    assert found is not None
    assert found.sources == {"rate": "learned", "restart": "learned", "save": "learned"}
    assert (found.restart_seconds, found.save_seconds) == (120, 20)


def test_what_is_written_on_the_card_counts_first() -> None:
    known = ClusterHistory(
        rate=learned_rate(num_failures=80, node_days=10_000), restart_seconds=120
    )
    plan = {
        "failures_per_1000_node_days": 2, "restart_minutes": 5, "save_seconds": 7, "step_seconds": 2,
        "queue_minutes": 60,
    }  # fmt: skip
    found = forecast(parse_card(CARD | {"plan": plan}), known)
    assert found is not None
    assert found.sources == {"rate": "stated", "restart": "stated", "save": "stated"}
    assert (found.rate.per_node_day, found.restart_seconds) == (0.002, 300)
    assert (found.save_seconds, found.step_seconds) == (7, 2)
    assert found.useful.availability < found.useful.job_wall_clock


def test_the_advised_interval_is_the_cheapest_of_those_shown() -> None:
    found = forecast(parse_card(CARD))
    assert found is not None
    assert found.advised.total_share == min(one.total_share for one in found.choices)
    assert found.derived.anchor_every_steps == found.advised.steps


def test_settings_follow_from_the_step_time() -> None:
    """PLAN-3: 2 s a step, an anchor every 2,000 steps, a snapshot a minute, a window of 100 steps."""
    found = derived_settings(
        steps=100_000, step_seconds=2, anchor_every_steps=2000, nodes=8, total_seconds=200_000
    )
    assert (found.anchor_every_steps, found.snapshot_every_steps) == (2000, 30)
    assert (found.alert_window_steps, found.collective_timeout_seconds) == (100, 300)


def test_no_interval_is_longer_than_the_run() -> None:
    found = derived_settings(
        steps=50, step_seconds=0.01, anchor_every_steps=2000, nodes=1, total_seconds=1
    )
    assert (found.anchor_every_steps, found.snapshot_every_steps) == (50, 0)


@pytest.mark.parametrize(
    ("step_seconds", "nodes", "seconds"),
    [(1, 8, 300), (20, 8, 400), (60, 8, 600), (1, 64, 600), (1, 2048, 600)],
)
def test_a_collective_may_take_five_to_ten_minutes(
    step_seconds: float, nodes: int, seconds: float
) -> None:
    assert collective_timeout_seconds(step_seconds, nodes) == seconds
