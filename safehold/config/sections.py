"""The sections of a run config: every field with its title, meaning, unit and bounds.

Forms, the reference page and the messages of refusals are all drawn from here, so a field is described once.
A value is never guessed: types are strict, unknown names are refused, and there is no null: "" and 0 say "not given"
where a field allows it.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from safehold.config.base import PATH_CHARACTERS, Path, Section, Text, as_tuple, describe

DIGEST = r"^$|^(blake3|sha256):[0-9a-f]{64}$"


class Network(Section):
    """Shape of the network that is trained."""

    architecture: Literal["dense", "moe"] = describe(
        "Architecture", "Dense, or a mixture of experts (moe).", default="dense"
    )
    layers: int = describe("Layers", "Transformer blocks.", unit="layers", ge=1, example=12)
    hidden: int = describe(
        "Hidden size", "Width of the residual stream.", unit="dimensions", ge=1, example=768
    )
    heads: int = describe(
        "Heads", "Attention heads of a layer; they divide the hidden size.", ge=1, example=12
    )
    ffn_multiple: float = describe(
        "FFN multiple",
        "Inner width of the feed-forward part over the hidden size.",
        default=4.0,
        gt=0,
        le=64,
    )
    vocabulary: int = describe(
        "Vocabulary",
        "Rows of the embedding; more than the largest token id.",
        unit="tokens",
        ge=2,
        example=50304,
    )
    sequence_length: int = describe(
        "Sequence length", "Tokens of a sample.", unit="tokens", ge=1, example=1024
    )
    tied: bool = describe(
        "Tied embeddings", "Input and output embedding are one matrix.", default=True
    )
    kv_heads: int = describe(
        "Heads of keys and values",
        "Shared by the other heads; 0: as many as heads.",
        default=0,
        ge=0,
    )
    gated: bool = describe("Gated FFN", "Three matrices (SwiGLU) instead of two.", default=False)
    experts: int = describe(
        "Experts",
        "Of a layer, that tokens are routed among; 0: dense, or not told.",
        default=0,
        ge=0,
        le=100_000,
    )
    experts_per_token: int = describe(
        "Experts per token", "That a token is routed to.", default=0, ge=0, le=100_000
    )
    shared_experts: int = describe(
        "Shared experts", "That every token goes through.", default=0, ge=0, le=100_000
    )


class Data(Section):
    """What it is trained on."""

    path: Path = describe(
        "Training data",
        "A prepared data directory, or a JSONL file (.jsonl, .jsonl.gz).",
        min_length=1,
        example="/data/corpus",
    )
    validation_path: Path = describe(
        "Validation data",
        "Same forms; empty: the validation part of a prepared directory.",
        default="",
    )
    version: Text = describe(
        "Data version",
        "Digest over the ordered list of files; empty: not locked.",
        default="",
        max_length=200,
    )
    mix: dict[
        Annotated[Text, Field(min_length=1, max_length=200)], Annotated[float, Field(gt=0, le=1)]
    ] = describe(
        "Mix",
        "Share of each domain in the tokens seen; the shares sum to 1. Empty: as the data lie.",
        unit="share of tokens",
        default_factory=dict,
    )


class Tokenizer(Section):
    """The tokenizer and the digest that locks it."""

    path: Path = describe(
        "Tokenizer",
        "tokenizer.json, or a folder that holds it.",
        min_length=1,
        example="/data/corpus/tokenizer.json",
    )
    digest: str = describe(
        "Tokenizer digest",
        "Digest of its files, `blake3:…`; empty: not locked.",
        default="",
        pattern=DIGEST,
    )


class Compute(Section):
    """Where it runs."""

    launcher: Literal["local", "kubernetes"] = describe(
        "Launcher",
        "`local`: processes on the machine of the service; `kubernetes`: pods of a registered cluster.",
        default="local",
    )
    devices: int = describe(
        "Devices",
        "Of the whole run, one process each.",
        unit="devices",
        default=1,
        ge=1,
        le=1_000_000,
    )
    nodes: int = describe(
        "Nodes", "Machines that share the devices evenly.", unit="nodes", default=1, ge=1
    )
    peak_tflops_per_device: float = describe(
        "Peak per device",
        "At the training precision, for MFU; 0: unknown.",
        unit="TFLOP/s",
        default=0.0,
        ge=0,
    )


class Code(Section):
    """What is started."""

    command: Annotated[
        tuple[Annotated[Text, Field(min_length=1, max_length=PATH_CHARACTERS)], ...],
        BeforeValidator(as_tuple),
    ] = describe(
        "Command",
        "What torchrun starts on every device: a script or `-m module`, then its arguments.",
        default=("-m", "safehold.reference.train"),
        min_length=1,
        max_length=1000,
    )
