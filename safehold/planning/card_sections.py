"""The sections of an experiment card (CARD-1): every field with its title, meaning, unit and bounds."""

from typing import Annotated, Literal

from pydantic import Field

from safehold.config.base import Path, Section, Text, describe

TokenCount = Annotated[int, Field(ge=0, lt=2**63)]


class CardNetwork(Section):
    """The network that is meant."""

    architecture: Literal["dense", "moe"] = describe(
        "Architecture", "Dense, or a mixture of experts.", default="dense"
    )
    parameters: float = describe(
        "Parameters (N)",
        "In total; empty: derived from the shape.",
        unit="parameters",
        default=0.0,
        ge=0,
    )
    active_parameters: float = describe(
        "Active parameters",
        "Used for one token; empty: derived from the shape, or all.",
        unit="parameters",
        default=0.0,
        ge=0,
    )
    layers: int = describe("Layers", "Transformer blocks.", unit="layers", default=0, ge=0)
    hidden: int = describe(
        "Hidden size", "Width of the residual stream.", unit="dimensions", default=0, ge=0
    )
    heads: int = describe("Heads", "Attention heads of a layer.", default=0, ge=0)
    kv_heads: int = describe(
        "Heads of keys and values", "Shared by the other heads; empty: as many.", default=0, ge=0
    )
    ffn_multiple: float = describe(
        "FFN multiple",
        "Inner width over hidden size, of one expert.",
        default=4.0,
        gt=0,
        le=64,
    )
    gated: bool = describe("Gated FFN", "Three matrices (SwiGLU) instead of two.", default=False)
    experts: int = describe(
        "Experts", "Of a layer, that tokens are routed among.", default=0, ge=0, le=100_000
    )
    experts_per_token: int = describe(
        "Experts per token", "That a token is routed to.", default=0, ge=0
    )
    shared_experts: int = describe(
        "Shared experts", "That every token goes through.", default=0, ge=0, le=100_000
    )
    vocabulary: int = describe(
        "Vocabulary", "Rows of the embedding.", unit="tokens", default=0, ge=0
    )
    sequence_length: int = describe(
        "Sequence length", "Tokens of a sample.", unit="tokens", default=0, ge=0
    )
    tied: bool = describe(
        "Tied embeddings", "Input and output embedding are one matrix.", default=True
    )


class CardData(Section):
    """The data that are meant."""

    tokens: TokenCount = describe("Tokens seen (D)", "Repeats included.", unit="tokens", default=0)
    unique_tokens: TokenCount = describe(
        "Unique tokens", "That there are, repeats left out.", unit="tokens", default=0
    )
    domains: dict[Annotated[Text, Field(min_length=1, max_length=200)], TokenCount] = describe(
        "Tokens by domain", "Tokens of each domain.", unit="tokens", default_factory=dict
    )
    version: Text = describe("Data version", "Digest of the data.", default="", max_length=200)
    quality: Literal["", "high", "mixed", "low"] = describe(
        "Quality", "As sampled and read by people.", default=""
    )
    origin: Literal["", "private", "public"] = describe(
        "Origin", "Private: no published network was trained on them.", default=""
    )


class CardCompute(Section):
    """The devices that are meant."""

    accelerator: Text = describe("Accelerator", "Type of the device.", default="", max_length=120)
    devices: int = describe("Devices", "Working in parallel.", unit="devices", default=0, ge=0)
    devices_per_node: int = describe(
        "Devices per node", "Of one machine.", unit="devices", default=8, ge=1, le=1024
    )
    peak_tflops_per_device: float = describe(
        "Peak per device", "At the training precision.", unit="TFLOP/s", default=0.0, ge=0
    )
    mfu: float = describe("MFU", "Share of the peak that is sustained.", default=0.4, gt=0, le=1)
    memory_gb_per_device: float = describe(
        "Memory per device", "In units of 1e9 bytes.", unit="GB", default=0.0, ge=0
    )
    intra_node_gb_per_second: float = describe(
        "Bandwidth within a node", "Of one device, one way.", unit="GB/s", default=0.0, ge=0
    )
    inter_node_gb_per_second: float = describe(
        "Bandwidth between nodes", "Of one device, one way.", unit="GB/s", default=0.0, ge=0
    )
    available_days: float = describe(
        "Available for", "How long the devices can be had.", unit="days", default=0.0, ge=0
    )
    budget_device_days: float = describe(
        "Budget", "What is granted.", unit="device-days", default=0.0, ge=0
    )
    cluster: Text = describe(
        "Cluster",
        "Name of a registered cluster, or `local`: its own failures, restarts and saves replace the defaults.",
        default="",
        max_length=40,
    )


class CardPlan(Section):
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
