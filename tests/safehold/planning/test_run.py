import pytest

from safehold.planning import plan_run
from tests.safehold.documents import make_config


def test_the_plan_of_a_config() -> None:
    plan = plan_run(make_config(compute__peak_tflops_per_device=100.0, compute__devices=2))
    assert plan.tokens == 20 * 8 * 64
    assert plan.parameters == 162_624 == 1000 * 64 + 2 * (12 * 64**2 + 128) + 64
    assert plan.checkpoint_bytes == plan.parameters * 14
    assert plan.checkpoint_room_bytes == 4 * plan.checkpoint_bytes
    assert plan.starting_loss == pytest.approx(6.91, abs=0.005)
    assert plan.compute is not None
    assert plan.compute.flops == 6 * plan.parameters * plan.tokens


def test_accumulation_makes_the_micro_batch_smaller() -> None:
    whole, half = plan_run(make_config()), plan_run(make_config(train__accumulation=2))
    assert whole.memory is not None
    assert half.memory is not None
    assert whole.memory.activations_bytes == 2 * half.memory.activations_bytes


def test_an_unknown_peak_leaves_compute_open() -> None:
    assert plan_run(make_config()).compute is None


def test_a_mixture_of_experts_leaves_sizes_open() -> None:
    plan = plan_run(make_config(network__architecture="moe"))
    assert (plan.parameters, plan.memory, plan.checkpoint_bytes) == (None, None, None)


def test_intervals_follow_from_a_measured_step_time() -> None:
    """PLAN-2: at 2 s a step, an hour between anchors would be about 2,000 steps."""
    plan = plan_run(make_config(), step_seconds=2.0, save_seconds=0.4)
    (advised,) = [one for one in plan.intervals if one.is_advised]
    assert plan.step_seconds == 2.0
    assert advised.saving_share == pytest.approx(0.4 / (advised.steps * 2.0))
    assert plan_run(make_config()).intervals == ()


def test_the_step_time_follows_from_the_compute() -> None:
    plan = plan_run(make_config(compute__peak_tflops_per_device=1e-3, compute__devices=1))
    assert plan.compute is not None
    assert plan.step_seconds * 20 == pytest.approx(plan.compute.device_seconds)
