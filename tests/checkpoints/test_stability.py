import math

from hypothesis import given
from hypothesis import strategies as st

from checkpoints.stability import FEWEST_POINTS, Health, Point, judge


def points(values: list[float], first: int = 1) -> list[Point]:
    return [Point(first + i, value) for i, value in enumerate(values)]


def test_a_long_calm_stretch_is_healthy():
    judgement = judge(points([3 - 0.01 * i for i in range(80)]), step=20, num_steps=50)
    assert judgement.health is Health.HEALTHY
    assert judgement.reason == "The loss stayed healthy from step 20 to 70 (50 points)."


def test_a_stretch_that_is_not_long_enough_is_not_judged():
    judgement = judge(points([3.0] * 60), step=20, num_steps=50)
    assert judgement.health is Health.TOO_EARLY


def test_one_value_that_is_not_finite_is_enough():
    for bad in (math.nan, math.inf, -math.inf):
        values = [3.0] * 30 + [bad] + [3.0] * 60
        judgement = judge(points(values), step=20, num_steps=50)
        assert judgement.health is Health.UNHEALTHY
        assert judgement.reason == "The loss was not finite at step 31."


def test_a_jump_above_the_average_is_named_with_its_size():
    values = [3.0] * 40 + [4.5] + [3.0] * 60
    judgement = judge(points(values), step=20, num_steps=50)
    assert judgement.health is Health.UNHEALTHY
    assert judgement.reason == "The loss rose 50% above its average at step 41 (3 to 4.5)."


def test_a_jump_before_the_checkpoint_or_after_the_stretch_does_not_count():
    values = [3.0] * 10 + [9.0] + [3.0] * 80 + [9.0]
    assert judge(points(values), step=20, num_steps=50).health is Health.HEALTHY


def test_a_rise_of_a_fifth_is_allowed_and_a_little_more_is_not():
    calm = [2.0] * 20
    allowed = points([*calm, 2.4, *[2.0] * 60])
    refused = points([*calm, 2.41, *[2.0] * 60])
    assert judge(allowed, step=20, num_steps=50).health is Health.HEALTHY
    assert judge(refused, step=20, num_steps=50).health is Health.UNHEALTHY


def test_rare_points_make_a_stretch_only_in_number():
    rare = [Point(100 * i, 3.0) for i in range(1, 20)]
    assert judge(rare[:3], step=100, num_steps=50).health is Health.TOO_EARLY
    judgement = judge(rare, step=100, num_steps=50)
    assert judgement.health is Health.HEALTHY
    assert f"({FEWEST_POINTS} points)" in judgement.reason


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=120))
def test_no_loss_at_all_makes_it_fail(values: list[float]):
    judgement = judge(points(values), step=30, num_steps=50)
    assert judgement.health in Health
    if judgement.health is Health.HEALTHY:
        assert all(math.isfinite(value) for value in values[30:80])
