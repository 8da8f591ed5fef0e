from dataclasses import replace

import pytest

from safehold.planning import MemoryPlan, checkpoint_bytes, ledger

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
    assert (
        ledger(replace(shape, tensor_parallel=4, pipeline_parallel=2)).activations_bytes
        == whole / 8
    )


@pytest.mark.parametrize(
    ("capacity", "fit"),
    [(0, "unknown"), (112e9 - 1, "does not fit"), (112e9, "tight"), (112e9 / 0.9, "fits")],
)
def test_the_verdict_compares_with_the_device(capacity: float, fit: str) -> None:
    assert ledger(replace(SEVEN_BILLION, capacity_bytes=capacity)).fit == fit


def test_a_checkpoint_has_weights_master_and_moments() -> None:
    """CONF-3: 14 bytes a parameter, 98 GB for 7e9."""
    assert checkpoint_bytes(7e9, "bf16") == 98e9
    assert checkpoint_bytes(7e9, "fp32") == 84e9
