from dataclasses import replace

import pytest

from safehold.planning.failures import stated_rate
from safehold.planning.reforecast import Progress, reforecast, so_far

HALF = Progress(
    steps=1000, done_steps=500, step_seconds=2.0, mean_step_seconds=2.2, wall_seconds=1200, available_seconds=1500,
    nodes=1, anchor_every_steps=100,
)  # fmt: skip
NEVER = stated_rate(0)


def test_what_is_left_takes_the_mean_step_time() -> None:
    found = reforecast(HALF, rate=NEVER)
    assert found is not None
    assert found.left_seconds == 500 * 2.2
    assert found.wall_days * 86_400 == pytest.approx(1500 + 1100)


def test_the_three_ratios_of_what_is_past() -> None:
    found = so_far(HALF)
    assert found.job_wall_clock == pytest.approx(500 * 2.2 / 1200)
    assert found.availability == pytest.approx(500 * 2.2 / 1500)
    assert found.effective_training_time == pytest.approx(500 * 2.0 / 1200)


def test_a_fork_counts_from_where_it_began() -> None:
    found = so_far(replace(HALF, first_step=400))
    assert found.job_wall_clock == pytest.approx(100 * 2.2 / 1200)


def test_failures_to_come_lengthen_what_is_left() -> None:
    """Ten failures a node-day: each costs 10 min and half of the 220 s between anchors."""
    found = reforecast(HALF, rate=stated_rate(10_000), restart_seconds=600)
    assert found is not None
    assert found.expected == pytest.approx(1 - 10 * (600 + 110) / 86_400)
    assert found.left_seconds == pytest.approx(1100 / found.expected)


def test_the_plan_is_compared() -> None:
    found = reforecast(HALF, rate=NEVER, planned_days=2000 / 86_400)
    assert found is not None
    assert found.deviation == pytest.approx(0.3)


def test_the_interval_is_advised_once_saves_are_known() -> None:
    found = reforecast(HALF, rate=stated_rate(5), save_seconds=1.0)
    assert found is not None
    (advised,) = [one for one in found.choices if one.is_advised]
    assert found.derived.anchor_every_steps == min(advised.steps, 1000)
    unknown = reforecast(HALF, rate=stated_rate(5))
    assert unknown is not None
    assert unknown.choices == ()


def test_a_finished_run_has_nothing_left() -> None:
    found = reforecast(replace(HALF, done_steps=1000), rate=NEVER)
    assert found is not None
    assert found.left_seconds == 0


def test_nothing_is_said_before_a_step_was_timed() -> None:
    assert reforecast(replace(HALF, step_seconds=0.0)) is None
