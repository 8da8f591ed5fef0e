from hypothesis import given
from hypothesis import strategies as st

from runs import sparkline


def drawn(losses: dict[int, float]) -> dict:
    spark: dict = {}
    for step, loss in losses.items():
        spark = sparkline.added(spark, step, loss)
    return spark


def test_a_short_run_is_drawn_step_by_step() -> None:
    assert drawn({0: 3.0, 1: 2.5, 2: 2.25}) == {"every": 1, "values": [3.0, 2.5, 2.25]}


def test_a_long_run_keeps_at_most_64_values_of_all_of_it() -> None:
    spark = drawn({step: 10_000.0 - step for step in range(10_000)})
    assert spark["every"] == 256
    assert len(spark["values"]) == 40
    assert spark["values"][0] > 9000
    assert spark["values"][-1] == 1.0


def test_a_step_that_goes_back_cuts_what_it_replaces() -> None:
    spark = drawn(dict.fromkeys(range(20), 1.0))
    assert sparkline.added(spark, 5, 9.0)["values"] == [1.0] * 5 + [9.0]


def test_steps_without_a_value_and_values_not_finite_are_gaps() -> None:
    assert drawn({0: 1.0, 3: float("nan"), 4: 2.0})["values"] == [1.0, None, None, None, 2.0]


@given(st.dictionaries(st.integers(0, 2**62), st.floats(), max_size=50))
def test_it_is_bounded_and_the_same_when_told_twice(losses: dict[int, float]) -> None:
    ordered = dict(sorted(losses.items()))
    spark = drawn(ordered)
    assert len(spark.get("values", [])) <= sparkline.MAX_VALUES
    for step, loss in list(ordered.items())[-1:]:
        assert sparkline.added(spark, step, loss) == spark
