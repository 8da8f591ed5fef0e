import numpy as np
import pytest
from hypothesis import given

from runs.metricstore import codec
from runs.metricstore.points import INT_COLUMNS, Points, joined
from tests.runs.metricstore.strategies import points


def same(a: Points, b: Points) -> bool:
    ints = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in INT_COLUMNS)
    return ints and np.array_equal(a.values.view(np.int64), b.values.view(np.int64))


@given(points())
def test_points_come_back_bit_for_bit(some: Points) -> None:
    assert same(codec.unpack(codec.pack(some)).points, some)


@given(points())
def test_only_the_wanted_columns_are_read(some: Points) -> None:
    found = codec.unpack(codec.pack(some), ["steps"]).points
    assert np.array_equal(found.steps, some.steps)
    assert not found.tokens.any()
    assert found.take(np.arange(some.size)).size == some.size


@given(points(max_size=20), points(max_size=20))
def test_rows_of_many_chunks_are_read_in_one_go(a: Points, b: Points) -> None:
    assert same(codec.unpack_rows(codec.pack_rows(a) + codec.pack_rows(b)), joined([a, b]))


def test_a_regular_float32_curve_costs_about_four_bytes_a_point() -> None:
    steps = np.arange(8192, dtype=np.int64)
    noise = np.random.default_rng(0).normal(0, 0.1, 8192)
    values = np.float32(2 + noise).astype(np.float64)
    some = Points(steps, steps * 32768, steps * 100, steps // 50 * 5000, values)
    assert len(codec.pack(some)) / some.size < 4


@pytest.mark.parametrize("cut", [1, 9, 20, -1])
def test_bytes_cut_short_are_told_as_damaged(cut: int) -> None:
    steps = np.arange(100, dtype=np.int64)
    whole = codec.pack(Points(steps, steps, steps, steps, np.sqrt(steps)))
    with pytest.raises(codec.DamagedChunk):
        codec.unpack(whole[:cut])
    with pytest.raises(codec.DamagedChunk, match="rows"):
        codec.unpack_rows(whole[:39])
