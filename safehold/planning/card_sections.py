"""The sections network, data and compute of an experiment card (CARD-1): every field with its meaning and bounds."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from safehold.config.base import Section, Text, describe

TokenCount = Annotated[int, Field(ge=0, lt=2**63)]
# A billionth of every unit on a card is less than anybody plans, and products of such factors stay far from 0.
SMALLEST = 1e-9


class Quantities(Section):
    """Fields that sums are made of: 0 is "not yet known", what is known can be divided by."""

    @field_validator("*", mode="before")
    @classmethod
    def _usable(cls, value: Any) -> Any:
        """Refuse what is so close to 0 that a sum would divide by 0."""
        if isinstance(value, float) and 0 < abs(value) < SMALLEST:
            raise ValueError(f"is closer to 0 than any quantity, {SMALLEST:g}")
        return value


class CardNetwork(Quantities):
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


class CardData(Quantities):
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


class CardCompute(Quantities):
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
