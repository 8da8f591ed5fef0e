from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.planning import MemoryPlan, checkpoint_bytes, ledger
from safehold.planning.activations import activation_factor
from safehold.planning.memory import MOMENT_BYTES, moment_bytes

SEVEN_BILLION = MemoryPlan(parameters=7e9, precision="fp16")


def test_the_reference_without_a_master_copy() -> None:
    """PLAN-1: 14 + 14 + 56 = 84 GB."""
    found = ledger(replace(SEVEN_BILLION, master_weights=False))
    assert (found.weights_bytes, found.gradients_bytes, found.moments_bytes) == (14e9, 14e9, 56e9)
    assert found.before_activations_bytes == 84e9


def test_the_reference_with_a_master_copy() -> None:
    assert ledger(SEVEN_BILLION).before_activations_bytes == 112e9


def test_fp32_needs_no_master_copy() -> None:
    assert ledger(replace(SEVEN_BILLION, precision="fp32")).before_activations_bytes == 7e9 * 16


def test_gradients_kept_in_fp32_take_twice_as_much() -> None:
    found = ledger(replace(SEVEN_BILLION, gradient_precision="fp32"))
    assert found.before_activations_bytes == 126e9


@pytest.mark.parametrize(
    ("optimizer", "bytes_each"),
    [("adamw", 8), ("adamw_8bit", 2), ("lion", 4), ("sgd_momentum", 4), ("sgd", 0)],
)
def test_each_optimizer_remembers_its_own_amount(optimizer: Any, bytes_each: float) -> None:
    found = ledger(replace(SEVEN_BILLION, optimizer=optimizer))
    assert found.moments_bytes == 7e9 * bytes_each


def test_adafactor_remembers_rows_and_columns() -> None:
    """A matrix of 4096 x 4096 keeps 2 x 4096 numbers instead of 4096²."""
    found = moment_bytes("adafactor", 4096)
    assert found * 4096**2 == pytest.approx(4 * 2 * 4096)
    assert moment_bytes("adafactor") == MOMENT_BYTES["adafactor"] == 0


@pytest.mark.parametrize(
    ("stage", "need"), [(0, 112e9), (1, 28e9 + 84e9 / 8), (2, 14e9 + 98e9 / 8), (3, 14e9)]
)
def test_sharding_divides_what_its_stage_shards(stage: int, need: float) -> None:
    found = ledger(replace(SEVEN_BILLION, data_parallel=8, zero_stage=stage))  # type: ignore[arg-type]
    assert found.before_activations_bytes == pytest.approx(need)


def test_activations_grow_with_batch_and_shrink_with_checkpointing() -> None:
    shape = replace(SEVEN_BILLION, layers=32, hidden=4096, sequence_length=2048, micro_batch=2)
    whole = ledger(shape).activations_bytes
    assert whole == 2 * 2048 * 4096 * 32 * 34
    assert ledger(replace(shape, micro_batch=4)).activations_bytes == 2 * whole
    assert ledger(replace(shape, activation_checkpointing=True)).activations_bytes == whole / 5
    assert ledger(replace(shape, precision="fp32")).activations_bytes == 2 * whole
    assert (
        ledger(replace(shape, tensor_parallel=4, pipeline_parallel=2)).activations_bytes
        == whole / 8
    )


def test_a_pipeline_fills_its_first_stage() -> None:
    """Four stages and many micro-batches: the first one holds four of them, as much as the whole network would."""
    shape = replace(SEVEN_BILLION, layers=32, hidden=4096, sequence_length=2048)
    piped = replace(shape, pipeline_parallel=4, accumulation=16)
    assert ledger(piped).activations_bytes == ledger(shape).activations_bytes


def test_logits_lie_beside_the_layers() -> None:
    shape = replace(SEVEN_BILLION, layers=32, hidden=4096, sequence_length=2048)
    with_head = replace(shape, vocabulary=50_000)
    more = ledger(with_head).activations_bytes - ledger(shape).activations_bytes
    assert more == 2048 * (50_000 * 12 + 4096 * 6)


def test_autocast_keeps_weights_and_gradients_in_fp32_and_casts_for_the_step() -> None:
    plain = replace(SEVEN_BILLION, layers=32, hidden=4096, sequence_length=2048)
    cast = ledger(replace(plain, autocast=True))
    assert (cast.weights_bytes, cast.gradients_bytes, cast.master_bytes) == (28e9, 28e9, 0)
    layers = 2048 * 4096 * 32 * (34 + 16)
    assert (cast.activations_bytes, cast.casts_bytes) == (layers, 14e9)
    assert cast.total_bytes == 28e9 + 28e9 + 56e9 + layers + 14e9
    assert cast.peak_bytes == cast.total_bytes - layers


def test_plain_torch_keeps_more_than_fused_kernels() -> None:
    fused = replace(SEVEN_BILLION, precision="fp32", layers=32, hidden=4096, sequence_length=2048)
    eager = replace(fused, eager=True)
    more = ledger(eager).activations_bytes - ledger(fused).activations_bytes
    assert more == 2048 * 4096 * 32 * 16


def test_the_factor_follows_the_shape_of_the_feed_forward_part() -> None:
    """34 bytes is the sum of Korthikanti et al. for an inner width of four times the hidden size."""
    assert activation_factor(4.0) == 34
    assert activation_factor(2.0) == 26
    assert activation_factor(2.0, gated=True) == 34
    assert activation_factor(2.0, experts_per_token=2) == 34


def test_gradients_and_activations_meet_only_with_accumulation() -> None:
    one = replace(SEVEN_BILLION, layers=32, hidden=4096, sequence_length=2048)
    found = ledger(one)
    smaller = min(found.gradients_bytes, found.activations_bytes)
    assert found.peak_bytes == found.total_bytes - smaller
    assert ledger(replace(one, accumulation=2)).peak_bytes == found.total_bytes
    assert ledger(replace(one, data_parallel=2)).peak_bytes == found.total_bytes


@pytest.mark.parametrize(
    ("capacity", "fit"),
    [(0, "unknown"), (112e9 - 1, "does not fit"), (112e9, "tight"), (112e9 / 0.9, "fits")],
)
def test_the_verdict_compares_with_the_device(capacity: float, fit: str) -> None:
    assert ledger(replace(SEVEN_BILLION, capacity_bytes=capacity)).fit == fit


@given(
    parameters=st.floats(1e6, 1e12), precision=st.sampled_from(["fp32", "bf16", "fp16", "fp8"]),
    optimizer=st.sampled_from(sorted(MOMENT_BYTES)), copies=st.integers(1, 4096), tokens=st.integers(1, 10_000),
)  # fmt: skip
def test_a_higher_stage_never_takes_more(
    parameters: float, precision: Any, optimizer: Any, copies: int, tokens: int
) -> None:
    plan = MemoryPlan(
        parameters=parameters, precision=precision, optimizer=optimizer, data_parallel=copies,
        layers=4, hidden=64, sequence_length=tokens,
    )  # fmt: skip
    sizes = [ledger(replace(plan, zero_stage=stage)).total_bytes for stage in (0, 1, 2, 3)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(ledger(plan).peak_bytes <= size for size in sizes[:1])


def test_a_checkpoint_has_weights_master_and_moments() -> None:
    """CONF-3: 14 bytes a parameter, 98 GB for 7e9."""
    assert checkpoint_bytes(7e9, "bf16") == 98e9
    assert checkpoint_bytes(7e9, "fp32") == 84e9
    assert checkpoint_bytes(7e9, "bf16", optimizer="sgd", master_weights=False) == 14e9
