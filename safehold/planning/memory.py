"""Where the memory of a device goes (PLAN-1), and how large a checkpoint is (CONF-3)."""

from dataclasses import dataclass
from typing import Literal

Precision = Literal["fp32", "bf16", "fp16"]
Fit = Literal["fits", "tight", "does not fit", "unknown"]

VALUE_BYTES: dict[Precision, int] = {"fp32": 4, "bf16": 2, "fp16": 2}
MOMENT_BYTES = 8  # Adam: two moments in fp32
MASTER_BYTES = 4  # an fp32 copy of 16-bit weights
ACTIVATION_FACTOR = 34.0  # bytes per token, layer and hidden unit in 16 bits; Korthikanti et al. 2022, arXiv 2205.05198
CHECKPOINTING_DIVISOR = 5.0  # the careful end of the 5 to 10 times that are reported
TIGHT_SHARE = 0.9


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """What the ledger is drawn up for.

    Attributes:
        micro_batch: Sequences of one forward pass on one device.
        capacity_bytes: Memory of a device; 0 is unknown.
        master_weights: Whether 16-bit training keeps an fp32 copy of the weights.
        zero_stage: 1 shards optimizer states over `data_parallel`, 2 gradients too, 3 (FSDP) weights too.
    """

    parameters: float
    precision: Precision = "bf16"
    master_weights: bool = True
    layers: int = 0
    hidden: int = 0
    sequence_length: int = 0
    micro_batch: int = 1
    activation_factor: float = ACTIVATION_FACTOR
    activation_checkpointing: bool = False
    data_parallel: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    zero_stage: Literal[0, 1, 2, 3] = 0
    capacity_bytes: float = 0


@dataclass(frozen=True, kw_only=True)
class MemoryLedger:
    """Bytes on one device."""

    weights_bytes: float
    gradients_bytes: float
    moments_bytes: float
    master_bytes: float
    activations_bytes: float
    capacity_bytes: float

    @property
    def before_activations_bytes(self) -> float:
        """Return what does not depend on the batch."""
        return self.weights_bytes + self.gradients_bytes + self.moments_bytes + self.master_bytes

    @property
    def total_bytes(self) -> float:
        """Return everything counted."""
        return self.before_activations_bytes + self.activations_bytes

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
    """Return the memory of one device with Adam.

    7e9 parameters in fp16: 14 GB weights, 14 GB gradients, 56 GB moments = 84 GB, 112 GB with a master copy.
    """
    local = plan.parameters / (plan.tensor_parallel * plan.pipeline_parallel)
    value_bytes = VALUE_BYTES[plan.precision]
    needs_master = plan.master_weights and plan.precision != "fp32"
    return MemoryLedger(
        weights_bytes=local * value_bytes / _shards(plan, 3),
        gradients_bytes=local * value_bytes / _shards(plan, 2),
        moments_bytes=local * MOMENT_BYTES / _shards(plan, 1),
        master_bytes=local * MASTER_BYTES / _shards(plan, 1) if needs_master else 0,
        activations_bytes=_activations_bytes(plan),
        capacity_bytes=plan.capacity_bytes,
    )


def checkpoint_bytes(parameters: float, precision: Precision = "bf16") -> float:
    """Return the size of one checkpoint with Adam: weights, master copy and moments.

    14 bytes a parameter in 16 bits, 12 in fp32; RNG, sampler and manifest are small beside it.
    """
    master = 0 if precision == "fp32" else MASTER_BYTES
    return parameters * (VALUE_BYTES[precision] + master + MOMENT_BYTES)


def _shards(plan: MemoryPlan, from_stage: int) -> int:
    return plan.data_parallel if plan.zero_stage >= from_stage else 1


def _activations_bytes(plan: MemoryPlan) -> float:
    tokens = plan.micro_batch * plan.sequence_length
    width = VALUE_BYTES[plan.precision] / 2  # the factor counts 16-bit values
    whole = tokens * plan.hidden * plan.layers * plan.activation_factor * width
    if plan.activation_checkpointing:
        whole /= CHECKPOINTING_DIVISOR
    return whole / (plan.tensor_parallel * plan.pipeline_parallel)
