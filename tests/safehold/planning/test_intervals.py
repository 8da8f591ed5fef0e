from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.planning.intervals import (
    anchor_steps,
    costs,
    optimum_seconds,
    rounded_steps,
    steps_in,
)


def test_the_reference_interval() -> None:
    """PLAN-2: 2 s a step is 1,800 steps an hour, so about 2,000 steps between anchors."""
    assert steps_in(3600, 2) == 1800
    assert rounded_steps(1800) == 2000
    assert anchor_steps(step_seconds=2) == 2000


def test_an_hour_is_what_young_advises_for_usual_saves_and_failures() -> None:
    """A save of 30 s and a failure every 60 h: √(2 · 30 s · 216,000 s) = 3,600 s."""
    assert optimum_seconds(save_seconds=30, between_failures_seconds=216_000) == 3600
    assert anchor_steps(step_seconds=2, save_seconds=30, between_failures_seconds=216_000) == 2000


def test_what_never_fails_is_saved_every_hour() -> None:
    assert anchor_steps(step_seconds=1, save_seconds=30, between_failures_seconds=inf) == 4000


def test_each_choice_tells_its_price() -> None:
    choices = costs(step_seconds=2, save_seconds=30, between_failures_seconds=216_000)
    assert [one.steps for one in choices] == [500, 1000, 2000, 4000, 8000]
    (advised,) = [one for one in choices if one.is_advised]
    assert (advised.steps, advised.seconds) == (2000, 4000)
    assert advised.saving_share == 30 / 4000
    assert advised.lost_share == pytest.approx(2000 / 216_000)
    assert advised.total_share == advised.saving_share + advised.lost_share


def test_no_choice_is_longer_than_the_run() -> None:
    choices = costs(
        step_seconds=2, save_seconds=30, between_failures_seconds=216_000, most_steps=900
    )
    assert [one.steps for one in choices] == [225, 450, 900]
    assert choices[-1].is_advised


@given(save=st.floats(0.1, 3600), between=st.floats(600, 1e8), step=st.floats(0.01, 120))
def test_the_advised_choice_costs_hardly_more_than_the_best(
    save: float, between: float, step: float
) -> None:
    """Rounding to one digit moves the interval by half at most, and the price by a twelfth."""
    best = optimum_seconds(save_seconds=save, between_failures_seconds=between)
    least = save / best + best / 2 / between
    steps = anchor_steps(step_seconds=step, save_seconds=save, between_failures_seconds=between)
    if best / step >= 1:
        price = save / (steps * step) + steps * step / 2 / between
        assert price <= least * 1.10


@given(st.floats(0.001, 1e12))
def test_rounded_steps_have_one_digit(steps: float) -> None:
    found = rounded_steps(steps)
    assert found >= 1
    assert len(str(found).rstrip("0")) == 1
