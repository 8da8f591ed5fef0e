import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.metricstore import levels
from tests.runs.metricstore.strategies import curves


def finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


@given(curves(), st.sampled_from(levels.FACTORS), st.booleans())
def test_a_level_keeps_extremes_ends_and_the_first_bad_value_of_each_bucket(
    values: np.ndarray, factor: int, ends: bool
) -> None:
    keep = levels.kept(values, factor, ends=ends)
    assert np.all(np.diff(keep) > 0)
    assert {0, values.size - 1} <= set(keep.tolist())
    for start in range(0, values.size, factor):
        bucket = values[start : start + factor]
        chosen = values[keep[(keep >= start) & (keep < start + factor)]]
        if finite(bucket).size:
            assert finite(chosen).min() == finite(bucket).min()
            assert finite(chosen).max() == finite(bucket).max()
        assert np.isfinite(bucket).all() == np.isfinite(chosen).all()


@given(curves(), st.integers(4, 500))
def test_thinning_keeps_extremes_and_ends_within_the_budget(
    values: np.ndarray, budget: int
) -> None:
    values = finite(values)
    keep = levels.thinned(values, budget)
    assert keep.size <= max(budget, 1)
    if values.size:
        assert (keep[0], keep[-1]) == (0, values.size - 1)
        assert values[keep].min() == values.min()
        assert values[keep].max() == values.max()


@pytest.mark.parametrize(
    ("num_points", "budget", "factor"),
    [
        (900, 1000, 1),
        (8000, 1000, 16),
        (100_000, 1000, 16),
        (200_000, 1000, 256),
        (10**7, 1000, 4096),
    ],
)
def test_the_level_suits_the_budget(num_points: int, budget: int, factor: int) -> None:
    assert levels.factor_for(num_points, budget) == factor


@given(curves(), st.sampled_from(levels.FACTORS))
def test_not_finite_values_are_counted_by_bucket(values: np.ndarray, factor: int) -> None:
    counts = levels.not_finite_counts(values, factor)
    assert counts.sum() == (~np.isfinite(values)).sum()
