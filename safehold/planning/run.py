"""The sums of a run config: what `safehold plan` prints."""

from collections.abc import Sequence
from dataclasses import dataclass

from safehold.config import RunConfig
from safehold.planning.compute import SECONDS_A_DAY, ComputeEstimate, estimate
from safehold.planning.failures import REPORTED
from safehold.planning.intervals import IntervalCost, assumed_save_seconds, costs
from safehold.planning.memory import MemoryLedger, MemoryPlan, checkpoint_bytes, ledger
from safehold.planning.network import Shape, active_parameter_count, parameter_count, starting_loss

ASSUMED_MFU = 0.4  # a common figure for dense networks on tuned clusters; replaced by what the smoke run measures


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What a config asks for.

    Attributes:
        parameters: N; None for a mixture whose experts the config does not tell.
        tokens: D, seen in the whole run.
        compute: None while the peak of a device is unknown.
        checkpoint_room_bytes: The anchors kept and one being written.
        step_seconds: As given, else from the compute; 0: not known.
        intervals: Choices of steps between anchors with their prices, at the reported failure rate; empty while the
            step time is not known.
    """

    parameters: int | None
    tokens: int
    tokens_per_step: int
    starting_loss: float
    compute: ComputeEstimate | None
    memory: MemoryLedger | None
    checkpoint_bytes: float | None
    checkpoint_room_bytes: float | None
    step_seconds: float
    intervals: Sequence[IntervalCost]


def plan_run(
    config: RunConfig,
    *,
    mfu: float = ASSUMED_MFU,
    memory_bytes_per_device: float = 0,
    step_seconds: float = 0,
    save_seconds: float = 0,
) -> RunPlan:
    """Return the plan of a run under plain data parallelism.

    Args:
        config: What is planned.
        mfu: Share of the peak that is sustained.
        memory_bytes_per_device: 0: unknown.
        step_seconds: As measured; 0: from the compute.
        save_seconds: That an anchor stops the training; 0: from its size.
    """
    parameters = parameters_of(config)
    tokens_per_step = config.train.global_batch * config.network.sequence_length
    size = None if parameters is None else checkpoint_bytes(parameters, config.train.precision)
    compute = _compute(config, parameters, config.train.steps * tokens_per_step, mfu)
    usual = step_seconds or _step_seconds(config, compute)
    return RunPlan(
        parameters=parameters,
        tokens=config.train.steps * tokens_per_step,
        tokens_per_step=tokens_per_step,
        starting_loss=starting_loss(config.network.vocabulary),
        compute=compute,
        memory=None if parameters is None else _memory(config, parameters, memory_bytes_per_device),
        checkpoint_bytes=size,
        checkpoint_room_bytes=None if size is None else size * (config.checkpoint.keep_anchors + 1),
        step_seconds=usual,
        intervals=_intervals(config, usual, save_seconds or assumed_save_seconds(size or 0)),
    )


def parameters_of(config: RunConfig) -> int | None:
    """Return N, of a mixture with all its experts; None for one whose experts the config does not tell."""
    shape = _shape(config)
    return parameter_count(shape) if shape else None


def _shape(config: RunConfig) -> Shape | None:
    network = config.network
    if network.architecture == "moe" and not network.experts:
        return None
    return Shape(
        layers=network.layers, hidden=network.hidden, vocabulary=network.vocabulary,
        ffn_multiple=network.ffn_multiple, tied=network.tied, gated=network.gated, heads=network.heads,
        kv_heads=network.kv_heads, experts=network.experts, experts_per_token=network.experts_per_token,
        shared_experts=network.shared_experts,
    )  # fmt: skip


def _compute(
    config: RunConfig, parameters: int | None, tokens: int, mfu: float
) -> ComputeEstimate | None:
    peak, shape = config.compute.peak_tflops_per_device, _shape(config)
    if parameters is None or shape is None or not peak:
        return None
    return estimate(
        parameters=active_parameter_count(shape),
        tokens=tokens,
        peak_tflops_per_device=peak,
        mfu=mfu,
        devices=config.compute.devices,
    )


def _step_seconds(config: RunConfig, compute: ComputeEstimate | None) -> float:
    return compute.wall_days * SECONDS_A_DAY / config.train.steps if compute else 0


def _intervals(
    config: RunConfig, step_seconds: float, save_seconds: float
) -> Sequence[IntervalCost]:
    if not step_seconds:
        return ()
    return costs(
        step_seconds=step_seconds,
        save_seconds=save_seconds,
        between_failures_seconds=REPORTED.between_failures_seconds(config.compute.nodes),
        most_steps=config.train.steps,
    )


def _memory(config: RunConfig, parameters: int, capacity_bytes: float) -> MemoryLedger:
    per_device = config.train.global_batch // (config.compute.devices * config.train.accumulation)
    return ledger(
        MemoryPlan(
            parameters=parameters,
            precision=config.train.precision,
            # As the reference trainer and most scripts do it: weights and gradients stay in fp32.
            autocast=config.train.precision != "fp32",
            eager=True,
            layers=config.network.layers,
            hidden=config.network.hidden,
            ffn_multiple=config.network.ffn_multiple,
            vocabulary=config.network.vocabulary,
            sequence_length=config.network.sequence_length,
            micro_batch=per_device,
            accumulation=config.train.accumulation,
            data_parallel=config.compute.devices,
            capacity_bytes=capacity_bytes,
        )
    )
