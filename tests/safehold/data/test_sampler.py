"""The order of the data is one list per epoch, whatever the ranks and the interruptions."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safehold.data.coverage import check_coverage
from safehold.data.permutation import Permutation
from safehold.data.sampler import Sampler, SamplerError

# The trace of a resume that drew a new permutation in mid-epoch: 14 samples twice, 14 never.
FAULTY = [
    52, 28, 38, 23, 12, 45, 26, 25, 35, 20, 36, 13, 10, 3, 33, 57, 34, 54, 24, 40, 56, 1, 49, 10,
    57, 2, 40, 32, 53, 22, 30, 52, 21, 59, 29, 9, 41, 63, 23, 13, 37, 45, 26, 61, 31, 39, 54, 34,
    44, 43, 33, 62, 46, 16, 5, 48, 8, 15, 14, 11, 38, 12, 24, 51,
]  # fmt: skip


def taken(sampler, batches):
    shares = iter(sampler)
    return [number for _ in range(batches) for number in next(shares).ids.tolist()]


@settings(deadline=None)
@given(st.integers(1, 5000), st.integers(0, 2**64), st.integers(0, 50))
def test_permutation_is_a_bijection(size, seed, epoch):
    order = Permutation(size, seed=seed, epoch=epoch)(np.arange(size))
    assert np.array_equal(np.sort(order), np.arange(size))


def test_every_place_is_equally_likely_over_epochs():
    counts = np.zeros((16, 16))
    for epoch in range(4000):
        order = Permutation(16, seed=11, epoch=epoch)(np.arange(16))
        np.add.at(counts, (np.arange(16), order), 1)
    expected = 4000 / 16
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert chi_squared < 330  # 225 degrees of freedom: beyond 330 once in a million


def test_epoch_is_covered_once_and_drawn_anew():
    sampler = Sampler(64, global_batch=4, seed=1234)
    first, second = taken(sampler, 16), taken(sampler, 16)
    assert check_coverage(first, 64).exact
    assert check_coverage(second, 64).exact
    assert first != second
    assert (sampler.epoch, sampler.position) == (2, 0)


@pytest.mark.parametrize("interrupted_after", range(17))
def test_interrupted_after_any_batch_the_order_is_the_same(interrupted_after):
    whole = taken(Sampler(64, global_batch=4, seed=1234), 16)
    first = Sampler(64, global_batch=4, seed=1234)
    before = taken(first, interrupted_after)
    second = Sampler(64, global_batch=4, seed=1234)
    second.load_state_dict(first.state_dict())
    assert before + taken(second, 16 - interrupted_after) == whole


def test_faulty_trace_is_flagged():
    found = check_coverage(FAULTY, 64)
    assert found.too_often == (10, 12, 13, 23, 24, 26, 33, 34, 38, 40, 45, 52, 54, 57)
    assert found.too_rarely == (0, 4, 6, 7, 17, 18, 19, 27, 42, 47, 50, 55, 58, 60)
    assert not found.exact


def test_batches_run_on_over_the_end_of_an_epoch_without_losing_a_sample():
    sampler = Sampler(10, global_batch=4, seed=0)
    assert check_coverage(taken(sampler, 5), 10, epochs=2).exact


@pytest.mark.parametrize(("world_size", "accumulation"), [(1, 1), (2, 1), (4, 1), (2, 2), (1, 8)])
def test_global_order_does_not_depend_on_the_ranks(world_size, accumulation):
    alone = next(iter(Sampler(100, global_batch=8, seed=3)))
    shares = [
        next(iter(Sampler(100, global_batch=8, seed=3, rank=rank, world_size=world_size, accumulation=accumulation)))
        for rank in range(world_size)
    ]  # fmt: skip
    assert all(np.array_equal(share.ids, alone.ids) for share in shares)
    together = [number for share in shares for part in share.mine for number in part.tolist()]
    assert sorted(together) == sorted(alone.ids.tolist())


def test_skipping_takes_no_time_in_proportion():
    sampler = Sampler(10**12, global_batch=1024, seed=5)
    sampler.consumed = 1024 * 10**8
    began = time.perf_counter()
    next(iter(sampler))
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"seed": 2}, "seed"), ({"num_samples": 65}, "num_samples"), ({"data_version": "b"}, "data_version")],
)  # fmt: skip
def test_state_of_another_order_is_refused_by_field(changes, named):
    state = Sampler(64, global_batch=4, seed=1, data_version="a").state_dict()
    arguments = {"num_samples": 64, "seed": 1, "data_version": "a"} | changes
    with pytest.raises(SamplerError, match=named):
        Sampler(arguments.pop("num_samples"), global_batch=4, **arguments).load_state_dict(state)


def test_batch_that_cannot_be_shared_is_refused():
    with pytest.raises(ValueError, match="make it a multiple of 6"):
        Sampler(64, global_batch=4, seed=1, world_size=3, accumulation=2)


@pytest.mark.parametrize("global_batch", [0, -4])
def test_a_batch_of_nothing_is_refused(global_batch):
    with pytest.raises(ValueError, match="at least one sample"):
        Sampler(10, global_batch=global_batch, seed=1)


@pytest.mark.parametrize("consumed", [-1, 1.5, "4", None, True])
def test_a_place_that_cannot_be_is_refused(consumed):
    sampler = Sampler(10, global_batch=2, seed=1)
    with pytest.raises(SamplerError, match="no count of samples"):
        sampler.load_state_dict({**sampler.state_dict(), "consumed": consumed})


@pytest.mark.parametrize(("num_samples", "world_size"), [(1, 1), (1, 4), (3, 4)])
def test_fewer_samples_than_ranks_are_used_again_and_again(num_samples, world_size):
    shares = [
        next(iter(Sampler(num_samples, global_batch=8, seed=1, rank=rank, world_size=world_size)))
        for rank in range(world_size)
    ]
    together = np.concatenate([share.mine[0] for share in shares])
    assert together.tolist() == shares[0].ids.tolist()
    assert set(together.tolist()) == set(range(num_samples))
