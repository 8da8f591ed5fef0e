import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.metricstore import curve, levels
from runs.metricstore.curve import Stretch, cut_of
from runs.metricstore.points import Points, joined


def some(*steps: int) -> Points:
    array = np.array(steps, dtype=np.int64)
    return Points(array, array, array, array, array * 1.0)


@pytest.mark.parametrize(
    ("start_step", "first_step", "cut"),
    [
        (200, 201, 201),  # resumed: what comes after the checkpoint is done over
        (200, None, 201),  # ... also of a metric not logged yet
        (200, 150, 150),  # the trainer went back further than it said
        (None, 1, 1),  # a fresh start replaces what it logs over
        (None, None, None),
    ],
)
def test_where_a_later_attempt_takes_over(start_step, first_step, cut) -> None:
    assert cut_of(Stretch(number=2, start_step=start_step), first_step) == cut


def test_an_attempt_that_never_did_a_step_takes_nothing_over() -> None:
    assert cut_of(Stretch(number=2, start_step=200, has_begun=False), None) is None


def test_a_part_is_split_at_the_cut() -> None:
    standing, superseded = curve.split(some(1, 2, 3, 4), 3)
    assert standing.steps.tolist() == [1, 2]
    assert superseded.steps.tolist() == [3, 4]
    assert curve.split(some(1, 2), None)[1].size == 0


def test_of_equal_steps_the_one_that_arrived_last_stands() -> None:
    steps = np.array([5, 4, 5], dtype=np.int64)
    points = Points(steps, steps, steps, steps, np.array([1.0, 2.0, 3.0]))
    left = points.sorted_by_step().newest_of_each_step()
    assert list(zip(left.steps.tolist(), left.values.tolist(), strict=True)) == [(4, 2.0), (5, 3.0)]


def test_points_that_were_read_twice_are_told_from_a_step_that_came_twice() -> None:
    """A batch that compaction moves between two questions is met in a chunk and as a batch."""
    steps = np.array([4, 5, 5], dtype=np.int64)
    points = Points(steps, steps, steps, steps, np.array([1.0, np.nan, 2.0]))
    twice = joined([points, points]).sorted_by_step().each_once()
    assert twice.steps.tolist() == [4, 5, 5]
    np.testing.assert_array_equal(twice.values, [1.0, np.nan, 2.0])


@given(st.lists(st.integers(0, 10**6), max_size=300), st.integers(10, 20_000))
def test_budgets_never_exceed_the_total(sizes: list[int], total: int) -> None:
    shares = curve.budgets(sizes, total)
    assert len(shares) == len(sizes)
    assert sum(shares) <= max(total, curve.MIN_SHOWN * len(sizes))
    assert all(share >= curve.MIN_SHOWN for share in shares)


def test_a_spike_is_seen_however_many_parts_share_a_small_budget() -> None:
    values = np.array([2.0, 2.0, 9.0, 2.0, -3.0, 2.0, 2.0, 2.0])
    shares = curve.budgets([values.size] * 40, 100)
    assert all({9.0, -3.0} <= set(values[levels.thinned(values, share)]) for share in shares)


def test_steps_that_a_browser_would_round_become_text() -> None:
    steps = np.array([1, 2**53, 2**53 + 1], dtype=np.int64)
    assert curve.exact(steps) == [1, 2**53, "9007199254740993"]
