"""The section `plan` of an experiment card: how the network is spread over the devices, how it is saved, and where."""

from typing import Literal

from safehold.config.base import Path, describe
from safehold.planning.card_sections import Quantities


class CardPlan(Quantities):
    """How the network is spread over the devices, how it is saved, and where."""

    precision: Literal["bf16", "fp16", "fp32", "fp8"] = describe(
        "Precision", "Of weights and arithmetic.", default="bf16"
    )
    optimizer: Literal["adamw", "adamw_8bit", "lion", "adafactor", "sgd_momentum", "sgd"] = (
        describe("Optimizer", "What it remembers takes memory.", default="adamw")
    )
    master_weights: bool = describe(
        "fp32 master weights",
        "A copy that the optimizer updates; fp32 needs none.",
        default=True,
    )
    autocast: bool = describe(
        "Autocast",
        "Weights and gradients stay in fp32, only the arithmetic has fewer bits (torch.autocast).",
        default=False,
    )
    gradient_precision: Literal["", "fp32", "bf16", "fp16"] = describe(
        "Gradients", "Precision of those that are kept; empty: as the weights.", default=""
    )
    zero_stage: int = describe(
        "ZeRO stage",
        "What data parallelism shards: 0 nothing, 1 optimizer states, 2 gradients too, 3 (FSDP) weights too.",
        default=0,
        ge=0,
        le=3,
    )
    tensor_parallel: int = describe(
        "Tensor parallel", "Devices that share each layer.", unit="devices", default=1, ge=1
    )
    pipeline_parallel: int = describe(
        "Pipeline parallel", "Stages of layers.", unit="stages", default=1, ge=1
    )
    micro_batch: int = describe(
        "Micro-batch",
        "Sequences of one forward pass on one device.",
        unit="sequences",
        default=1,
        ge=1,
    )
    accumulation: int = describe(
        "Accumulation",
        "Micro-batches a device adds up before an update.",
        unit="micro-batches",
        default=1,
        ge=1,
    )
    activation_checkpointing: bool = describe(
        "Activation checkpointing",
        "Recompute in the backward pass: activations 5 to 10 times smaller, steps 20 to 30 % longer.",
        default=False,
    )
    activation_factor: float = describe(
        "Activation factor",
        "Bytes per token, layer and hidden unit in 16 bits; empty: 18 + 4 x FFN multiple.",
        default=0.0,
        ge=0,
    )
    step_seconds: float = describe(
        "Step time", "As measured; empty: from the compute.", unit="s", default=0.0, ge=0
    )
    save_seconds: float = describe(
        "Save time",
        "That an anchor stops the training, as measured; empty: learned, else from the size.",
        unit="s",
        default=0.0,
        ge=0,
    )
    restart_minutes: float = describe(
        "Restart time",
        "From a failure to the next step; empty: learned, else 10.",
        unit="min",
        default=0.0,
        ge=0,
    )
    failures_per_1000_node_days: float = describe(
        "Failures per 1,000 node-days",
        "Empty: learned from the cluster, else 5.",
        default=0.0,
        ge=0,
    )
    queue_minutes: float = describe(
        "Wait in the queue", "At the start and after each failure.", unit="min", default=0.0, ge=0
    )
    checkpoint_root: Path = describe("Checkpoints in", "A folder.", default="")
    log_location: Path = describe("Logs in", "A folder or address.", default="")
