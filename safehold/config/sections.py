"""The sections of a run config: every field with its title, meaning, unit and bounds.

Forms, the reference page and the messages of refusals are all drawn from here, so a field is described once.
A value is never guessed: types are strict, unknown names are refused, and there is no null: "" and 0 say "not given"
where a field allows it.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

PATH_CHARACTERS = 4096  # PATH_MAX of Linux
DIGEST = r"^$|^(blake3|sha256):[0-9a-f]{64}$"


def plain_text(value: str) -> str:
    """Refuse characters that no file name, log line or PostgreSQL text can carry."""
    return _without_controls(value, "")


def prose(value: str) -> str:
    """Take line breaks and tabs too."""
    return _without_controls(value, "\n\r\t")


def _without_controls(value: str, allowed: str) -> str:
    for character in value:
        if (ord(character) < 32 or ord(character) == 127) and character not in allowed:
            raise ValueError(f"holds the control character U+{ord(character):04X}")
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise ValueError(f"holds half of a surrogate pair, U+{ord(character):04X}")
    return value


def as_tuple(value: object) -> object:
    """Take the list that TOML, YAML and JSON give for a pair."""
    return tuple(value) if isinstance(value, list) else value


Text = Annotated[str, AfterValidator(plain_text)]
Prose = Annotated[str, AfterValidator(prose)]
Path = Annotated[str, Field(max_length=PATH_CHARACTERS), AfterValidator(plain_text)]
Beta = Annotated[float, Field(ge=0, lt=1)]


def describe(
    title: str, description: str, *, unit: str = "", example: Any = None, **bounds: Any
) -> Any:
    """Return a pydantic field; without `default` it must be given, and a form then starts with `example`."""
    extra: dict[str, Any] = {"unit": unit}
    if example is not None:
        extra["example"] = example
    return Field(title=title, description=description, json_schema_extra=extra, **bounds)


class Section(BaseModel):
    """A part of the config: strict types, no unknown names, never changed once read."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


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


class Train(Section):
    """How long, in what portions, from which seed."""

    steps: int = describe(
        "Steps", "Optimizer updates of the whole run.", unit="steps", ge=1, lt=2**53, example=2000
    )
    global_batch: int = describe(
        "Global batch",
        "Sequences of one optimizer update, all devices and accumulation together.",
        unit="sequences",
        ge=1,
        lt=2**53,
        example=64,
    )
    accumulation: int = describe(
        "Accumulation",
        "Micro-batches a device adds up before an update.",
        unit="micro-batches",
        default=1,
        ge=1,
    )
    seed: int = describe("Seed", "Of initialisation and data order.", default=0, ge=0, lt=2**32)
    precision: Literal["fp32", "bf16", "fp16"] = describe(
        "Precision", "Of the forward and backward pass; optimizer states stay fp32.", default="bf16"
    )
    eval_every: int = describe("Evaluate every", "0: never.", unit="steps", default=0, ge=0)


class Optimizer(Section):
    """Optimizer and learning-rate schedule, counted in optimizer updates."""

    name: Literal["adamw"] = describe("Optimizer", "The update rule.", default="adamw")
    lr: float = describe(
        "Peak learning rate", "Reached at the end of the warmup.", gt=0, le=10, example=3e-4
    )
    min_lr: float = describe(
        "Minimum learning rate",
        "Where cosine and linear end; usually a tenth of the peak.",
        default=0.0,
        ge=0,
        le=10,
    )
    warmup_steps: int = describe(
        "Warmup",
        "Updates over which the rate rises linearly from 0.",
        unit="steps",
        default=0,
        ge=0,
    )
    schedule: Literal["cosine", "linear", "constant"] = describe(
        "Schedule",
        "Course of the rate from the end of the warmup to the last step.",
        default="cosine",
    )
    betas: Annotated[tuple[Beta, Beta], BeforeValidator(as_tuple)] = describe(
        "Betas", "Decay of the first and second moment.", default=(0.9, 0.95)
    )
    eps: float = describe(
        "Epsilon", "Added to the root of the second moment.", default=1e-8, gt=0, le=1
    )
    weight_decay: float = describe(
        "Weight decay", "Decoupled, on matrices.", default=0.1, ge=0, le=10
    )
    clip: float = describe(
        "Gradient clip", "Largest global norm of the gradient.", default=1.0, gt=0
    )


class Checkpoint(Section):
    """Where and how often the state is saved."""

    root: Path = describe(
        "Checkpoint root",
        "A folder for all runs; each run gets its own below it.",
        min_length=1,
        example="/checkpoints",
    )
    anchor_every_steps: int = describe(
        "Anchor every",
        "Steps between checkpoints that are saved synchronously.",
        unit="steps",
        ge=1,
        example=500,
    )
    snapshot_every_steps: int = describe(
        "Snapshot every",
        "Steps between checkpoints saved in the background; 0: none.",
        unit="steps",
        default=0,
        ge=0,
    )
    keep_anchors: int = describe(
        "Keep anchors",
        "The newest so many are kept.",
        unit="checkpoints",
        default=3,
        ge=1,
        le=10_000,
    )


class Log(Section):
    """How often metrics are logged."""

    every: int = describe("Log every", "Steps between records.", unit="steps", default=1, ge=1)


class Compute(Section):
    """Where it runs."""

    launcher: Literal["local"] = describe(
        "Launcher", "`local`: processes on the machine of the service.", default="local"
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
