"""What the fields of a card come to: parameters, compute, steps, memory (CARD-2, PLAN-1)."""

from safehold.planning.card import CardFields
from safehold.planning.compute import ComputeEstimate, estimate
from safehold.planning.memory import MemoryLedger, MemoryPlan, checkpoint_bytes, ledger
from safehold.planning.network import Shape, active_parameter_count, parameter_count


def shape_of(card: CardFields) -> Shape | None:
    """Return the shape, or None while layers, hidden size or vocabulary are not known, or the experts of a mixture."""
    network = card.network
    if not (network.layers and network.hidden and network.vocabulary):
        return None
    if network.architecture == "moe" and not (network.experts and network.experts_per_token):
        return None
    return Shape(
        layers=network.layers, hidden=network.hidden, vocabulary=network.vocabulary,
        ffn_multiple=network.ffn_multiple, tied=network.tied, gated=network.gated, heads=network.heads,
        kv_heads=network.kv_heads, experts=network.experts, experts_per_token=network.experts_per_token,
        shared_experts=network.shared_experts,
    )  # fmt: skip


def parameters_of(card: CardFields) -> float:
    """Return N: as given, else from the shape, else 0."""
    if card.network.parameters:
        return card.network.parameters
    shape = shape_of(card)
    return parameter_count(shape) if shape else 0


def active_parameters_of(card: CardFields) -> float:
    """Return the parameters that a token uses: as given, else by the share that the shape gives, else all."""
    if card.network.active_parameters:
        return card.network.active_parameters
    shape = shape_of(card)
    if shape is None or not shape.experts:
        return parameters_of(card)
    return parameters_of(card) * active_parameter_count(shape) / parameter_count(shape)


def compute_of(card: CardFields) -> ComputeEstimate | None:
    """Return the compute estimate, or None while a number it needs is missing."""
    parameters = active_parameters_of(card)
    if not (parameters and card.data.tokens and card.compute.peak_tflops_per_device):
        return None
    return estimate(
        parameters=parameters,
        tokens=card.data.tokens,
        peak_tflops_per_device=card.compute.peak_tflops_per_device,
        mfu=card.compute.mfu,
        devices=card.compute.devices or 1,
    )


def data_parallel_of(card: CardFields) -> int:
    """Return how many copies of the network, or shards of its states, work on different data."""
    group = card.plan.tensor_parallel * card.plan.pipeline_parallel
    return max(1, card.compute.devices // group)


def nodes_of(card: CardFields) -> int:
    """Return the machines that the devices fill."""
    return max(1, -(-card.compute.devices // card.compute.devices_per_node))


def global_batch_of(card: CardFields) -> int:
    """Return the sequences of one update."""
    return card.plan.micro_batch * data_parallel_of(card) * card.plan.accumulation


def steps_of(card: CardFields) -> int:
    """Return the updates of the whole training, 0 while tokens or sequence length are not known."""
    tokens_per_step = global_batch_of(card) * card.network.sequence_length
    return -(-card.data.tokens // tokens_per_step) if tokens_per_step and card.data.tokens else 0


def epochs_of(card: CardFields) -> float | None:
    """Return how often the unique tokens are seen; None while one of the two is not known."""
    if not (card.data.unique_tokens and card.data.tokens):
        return None
    return card.data.tokens / card.data.unique_tokens


def step_seconds_of(card: CardFields) -> float:
    """Return the time of one step: as measured, else from the compute, else 0."""
    if card.plan.step_seconds:
        return card.plan.step_seconds
    compute, steps = compute_of(card), steps_of(card)
    return compute.wall_days * 86_400 / steps if compute and steps else 0


def checkpoint_bytes_of(card: CardFields) -> float:
    """Return the size of one checkpoint, 0 while N is not known."""
    plan = card.plan
    return checkpoint_bytes(
        parameters_of(card), plan.precision, optimizer=plan.optimizer, master_weights=plan.master_weights
    )  # fmt: skip


def memory_of(card: CardFields) -> MemoryLedger | None:
    """Return the ledger of a device under the card's plan; None while N is not known."""
    parameters = parameters_of(card)
    return ledger(_memory_plan(card, parameters)) if parameters else None


def _memory_plan(card: CardFields, parameters: float) -> MemoryPlan:
    network, plan = card.network, card.plan
    return MemoryPlan(
        parameters=parameters, precision=plan.precision, optimizer=plan.optimizer,
        master_weights=plan.master_weights, autocast=plan.autocast, gradient_precision=plan.gradient_precision,
        layers=network.layers, hidden=network.hidden, ffn_multiple=network.ffn_multiple, gated=network.gated,
        experts_per_token=network.experts_per_token + network.shared_experts, vocabulary=network.vocabulary,
        sequence_length=network.sequence_length, micro_batch=plan.micro_batch, accumulation=plan.accumulation,
        activation_factor=plan.activation_factor, activation_checkpointing=plan.activation_checkpointing,
        data_parallel=data_parallel_of(card), tensor_parallel=plan.tensor_parallel,
        pipeline_parallel=plan.pipeline_parallel, zero_stage=plan.zero_stage,  # type: ignore[arg-type]
        capacity_bytes=card.compute.memory_gb_per_device * 1e9,
    )  # fmt: skip
