"""The sections of a run config about the training itself: length, optimizer, checkpoints, metrics."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from safehold.config.base import Path, Section, as_tuple, describe

Beta = Annotated[float, Field(ge=0, lt=1)]


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
    method: Literal["full", "lora"] = describe(
        "Method", "All weights are trained, or low-rank adapters beside them.", default="full"
    )
    loss_scaling: Literal["dynamic", "static", "none"] = describe(
        "Loss scaling",
        "Of fp16, whose gradients would underflow; without effect in bf16 and fp32.",
        default="dynamic",
    )
    divide_loss: bool = describe(
        "Divide the loss",
        "The loss of each micro-batch is divided by the accumulation count, so that the sum is a mean.",
        default=True,
    )
    clip_at: Literal["update", "micro_batch"] = describe(
        "Clip at",
        "Once after accumulation and before the update, or after every micro-batch.",
        default="update",
    )


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
    schedule: Literal["cosine", "linear", "three_part", "constant"] = describe(
        "Schedule",
        "Course of the rate from the end of the warmup to the last step; three_part holds the peak, then decays.",
        default="cosine",
    )
    decay_steps: int = describe(
        "Decay",
        "Last updates of the three-part schedule; 0 with every other.",
        unit="steps",
        default=0,
        ge=0,
    )
    betas: Annotated[tuple[Beta, Beta], BeforeValidator(as_tuple)] = describe(
        "Betas", "Decay of the first and second moment.", default=(0.9, 0.95)
    )
    state_precision: Literal["fp32", "bf16", "fp16"] = describe(
        "Precision of the states", "Of both moments and the master weights.", default="fp32"
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
