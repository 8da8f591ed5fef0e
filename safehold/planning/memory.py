"""Where the memory of a device goes (PLAN-1), and how large a checkpoint is (CONF-3)."""

from dataclasses import dataclass
from typing import Literal

from safehold.planning.activations import EAGER_BYTES, activation_factor, activations_bytes

Precision = Literal["fp32", "bf16", "fp16", "fp8"]
Optimizer = Literal["adamw", "adamw_8bit", "lion", "adafactor", "sgd_momentum", "sgd"]
Fit = Literal["fits", "tight", "does not fit", "unknown"]

VALUE_BYTES: dict[Precision, int] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
GRADIENT_BYTES: dict[Precision, int] = VALUE_BYTES | {"fp8": 2}  # sums of 8-bit gradients lose all
# Bytes a parameter of what the update rule remembers. Adam: two moments in fp32; in 8 bits: Dettmers et al. 2022,
# arXiv 2110.02861; Lion: one moment, Chen et al. 2023, arXiv 2302.06675. Adafactor keeps a row and a column of a
# matrix instead of it, Shazeer and Stern 2018, arXiv 1804.04235: see `moment_bytes`.
MOMENT_BYTES: dict[Optimizer, float] = {
    "adamw": 8, "adamw_8bit": 2, "lion": 4, "adafactor": 0, "sgd_momentum": 4, "sgd": 0
}  # fmt: skip
MASTER_BYTES = 4  # an fp32 copy of weights that are kept in fewer bits
TIGHT_SHARE = 0.9


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """What the ledger is drawn up for.

    Attributes:
        autocast: Weights and gradients stay in fp32, only the arithmetic has `precision` (torch.autocast).
        eager: Plain torch without fused kernels, as the reference trainer is; autocast is always so.
        gradient_precision: Of the gradients that are kept; empty: as the weights.
        vocabulary: Rows of the output; 0 leaves logits and their gradient out.
        micro_batch: Sequences of one forward pass on one device.
        accumulation: Micro-batches before an update; with more than one, gradients are there during the forward pass.
        activation_factor: Bytes per token, layer and hidden unit in 16 bits; 0: from `ffn_multiple`.
        capacity_bytes: Memory of a device; 0 is unknown.
        master_weights: Whether training in fewer bits keeps an fp32 copy of the weights.
        zero_stage: 1 shards optimizer states over `data_parallel`, 2 gradients too, 3 (FSDP) weights too.
    """

    parameters: float
    precision: Precision = "bf16"
    optimizer: Optimizer = "adamw"
    master_weights: bool = True
    autocast: bool = False
    eager: bool = False
    gradient_precision: Precision | Literal[""] = ""
    layers: int = 0
    hidden: int = 0
    ffn_multiple: float = 4.0
    gated: bool = False
    experts_per_token: int = 1
    vocabulary: int = 0
    sequence_length: int = 0
    micro_batch: int = 1
    accumulation: int = 1
    activation_factor: float = 0
    activation_checkpointing: bool = False
    data_parallel: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    zero_stage: Literal[0, 1, 2, 3] = 0
    capacity_bytes: float = 0


@dataclass(frozen=True, kw_only=True)
class MemoryLedger:
    """Bytes on one device: the one with most to hold.

    Attributes:
        casts_bytes: 16-bit copies of the weights that autocast makes in the forward pass and keeps to the end of the
            backward pass.
        holds_gradients: Gradients are there during the forward pass too.
    """

    weights_bytes: float
    gradients_bytes: float
    moments_bytes: float
    master_bytes: float
    activations_bytes: float
    capacity_bytes: float
    casts_bytes: float = 0
    holds_gradients: bool = True

    @property
    def before_activations_bytes(self) -> float:
        """Return what does not depend on the batch."""
        return self.weights_bytes + self.gradients_bytes + self.moments_bytes + self.master_bytes

    @property
    def total_bytes(self) -> float:
        """Return everything counted."""
        return self.before_activations_bytes + self.activations_bytes + self.casts_bytes

    @property
    def peak_bytes(self) -> float:
        """Return the most that is there at one moment.

        Activations are there at the end of the forward pass, gradients at the end of the backward pass; both at once
        only where gradients are kept from one micro-batch to the next.
        """
        if self.holds_gradients:
            return self.total_bytes
        return self.total_bytes - min(self.gradients_bytes, self.activations_bytes)

    @property
    def fit(self) -> Fit:
        """Return whether it fits into the device; tight is above 90 %."""
        if not self.capacity_bytes:
            return "unknown"
        share = self.total_bytes / self.capacity_bytes
        if share > 1:
            return "does not fit"
        return "tight" if share > TIGHT_SHARE else "fits"


def ledger(plan: MemoryPlan) -> MemoryLedger:
    """Return the memory of one device.

    7e9 parameters in fp16 with Adam: 14 GB weights, 14 GB gradients, 56 GB moments = 84 GB, 112 GB with a master copy.
    """
    local, kept = _local(plan), _kept(plan)
    needs_master = plan.master_weights and kept != "fp32"
    gradient_bytes = GRADIENT_BYTES[plan.gradient_precision or kept]
    return MemoryLedger(
        weights_bytes=local * VALUE_BYTES[kept] / _shards(plan, 3),
        gradients_bytes=local * gradient_bytes / _shards(plan, 2),
        moments_bytes=local * moment_bytes(plan.optimizer, plan.hidden) / _shards(plan, 1),
        master_bytes=local * MASTER_BYTES / _shards(plan, 1) if needs_master else 0,
        activations_bytes=_activations(plan),
        casts_bytes=_cast_bytes(plan),
        capacity_bytes=plan.capacity_bytes,
        # Reducers of data parallelism keep their buckets too.
        holds_gradients=plan.accumulation > 1 or plan.data_parallel > 1,
    )


def moment_bytes(optimizer: Optimizer, hidden: int = 0) -> float:
    """Return what the optimizer remembers, in bytes a parameter."""
    if optimizer == "adafactor" and hidden:
        return 4 * 2 / hidden  # an fp32 row and column of a matrix whose sides are about `hidden`
    return MOMENT_BYTES[optimizer]


def checkpoint_bytes(
    parameters: float,
    precision: Precision = "bf16",
    *,
    optimizer: Optimizer = "adamw",
    master_weights: bool = True,
) -> float:
    """Return the size of one checkpoint: weights, master copy and moments.

    With Adam 14 bytes a parameter in 16 bits, 12 in fp32; RNG, sampler and manifest are small beside it.
    """
    master = MASTER_BYTES if master_weights and precision != "fp32" else 0
    return parameters * (VALUE_BYTES[precision] + master + moment_bytes(optimizer))


def _shards(plan: MemoryPlan, from_stage: int) -> int:
    return plan.data_parallel if plan.zero_stage >= from_stage else 1


def _local(plan: MemoryPlan) -> float:
    return plan.parameters / (plan.tensor_parallel * plan.pipeline_parallel)


def _kept(plan: MemoryPlan) -> Precision:
    """Return the precision that weights are kept in."""
    return "fp32" if plan.autocast else plan.precision


def _cast_bytes(plan: MemoryPlan) -> float:
    if not plan.autocast or plan.precision == "fp32":
        return 0
    return _local(plan) * VALUE_BYTES[plan.precision] / _shards(plan, 3)


def _activations(plan: MemoryPlan) -> float:
    factor = plan.activation_factor or activation_factor(
        plan.ffn_multiple, gated=plan.gated, experts_per_token=plan.experts_per_token
    )
    # The factor counts 16-bit values; what 8-bit training keeps for the backward pass is 16 bits wide still.
    width = 2 if plan.precision == "fp32" else 1
    is_autocast = plan.autocast and plan.precision != "fp32"
    return activations_bytes(
        tokens=plan.micro_batch * plan.sequence_length,
        hidden=plan.hidden,
        layers=plan.layers,
        vocabulary=plan.vocabulary,
        factor=factor * width + (EAGER_BYTES if plan.eager or is_autocast else 0),
        # Under autocast the last norm keeps two values in fp32 and hands one on in 16 bits.
        value_bytes=10 / 3 if is_autocast else 2 * width,
        checkpointing=plan.activation_checkpointing,
        tensor_parallel=plan.tensor_parallel,
        pipeline_parallel=plan.pipeline_parallel,
        num_in_flight=min(plan.pipeline_parallel, plan.accumulation),
    )
