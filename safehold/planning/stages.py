"""The four stages of training (CARD-7): what a card of each begins with, and what tells that it is done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Stage = Literal["pretrain", "continued", "sft", "preference"]


@dataclass(frozen=True, kw_only=True)
class StageDefaults:
    """What a stage is like.

    Attributes:
        data_form: What one sample is.
        converged: What tells that it is done.
        fields: What a card of this stage begins with, as `CardFields` reads it.
        needs_base: Whether it goes on from a checkpoint and keeps its architecture.
    """

    data_form: str
    converged: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    needs_base: bool = True


def _accepted(metric: str, comparator: str, threshold: float) -> dict[str, Any]:
    return {
        "metric": metric,
        "split": "validation",
        "comparator": comparator,
        "threshold": threshold,
    }


# MFU: long packed sequences on tuned clusters reach about 40 %; short, padded and paired ones less: guesses, to be
# replaced by what a pilot measures. Thresholds are examples that a person has to replace.
STAGES: dict[Stage, StageDefaults] = {
    "pretrain": StageDefaults(
        data_form="Documents packed to the sequence length, an end-of-text token between them.",
        converged="Validation loss falls along its power law and flattens with the decay of the learning rate.",
        fields={"compute": {"mfu": 0.4}, "plan": {"zero_stage": 1}},
        needs_base=False,
    ),
    "continued": StageDefaults(
        data_form="Packed documents as in pretraining, with a share of the old mix against forgetting.",
        converged="Loss on the new domain flattens while loss on the old ones rises by no more than was agreed.",
        fields={"compute": {"mfu": 0.4}, "plan": {"zero_stage": 1}},
    ),
    "sft": StageDefaults(
        data_form="Prompt and answer; the loss is taken over the answer alone.",
        converged="One to three epochs, to the lowest validation loss; then the task's own metric decides.",
        fields={
            "task_form": "dialogue",
            "compute": {"mfu": 0.3},
            "plan": {"zero_stage": 3, "activation_checkpointing": True},
        },
    ),
    "preference": StageDefaults(
        data_form="Prompt with a preferred and a rejected answer.",
        converged="The margin between the two grows on held-out pairs while the distance to the base stays bounded.",
        fields={
            "task_form": "dialogue",
            "acceptance": [_accepted("win_rate", ">=", 0.5)],
            # Two networks, of which one is only read, and both answers of a pair: half the use of a device.
            "compute": {"mfu": 0.25},
            "plan": {"zero_stage": 3, "activation_checkpointing": True},
        },
    ),
}


def defaults_of(stage: str) -> StageDefaults:
    """Return the defaults of a stage; those of pretraining for a name that is none."""
    return next((found for name, found in STAGES.items() if name == stage), STAGES["pretrain"])
