"""The typed fields of an experiment card (CARD-1) and the four agreements that let it start a run (CARD-3).

A card is filled in over days: nothing is required; 0 and "" say "not yet known".
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from safehold.config import parse_as
from safehold.config.base import Prose, Section, Text, as_tuple, describe
from safehold.config.errors import ConfigInvalid
from safehold.planning import card_rules
from safehold.planning.card_plan import CardPlan
from safehold.planning.card_sections import CardCompute, CardData, CardNetwork


class Acceptance(Section):
    """One metric that decides."""

    metric: Text = describe("Metric", "Name of a logged evaluation.", min_length=1, max_length=250)
    split: Text = describe("Split", "Of the data.", default="validation", max_length=120)
    comparator: Literal["<=", "<", ">=", ">"] = describe(
        "Comparator", "Metric against threshold.", default="<="
    )
    threshold: float = describe("Threshold", "What must be reached.")


class CardFields(Section):
    """What `Card.data` holds."""

    task_form: Literal[
        "", "open_generation", "classification", "retrieval", "dialogue", "other"
    ] = describe("Task form", "What the network is to do.", default="")
    objective: Prose = describe(
        "Objective", "In a sentence.", default="", max_length=2000, form="prose"
    )
    acceptance: Annotated[tuple[Acceptance, ...], BeforeValidator(as_tuple)] = describe(
        "Acceptance metrics", "The card is accepted when all hold.", default=()
    )
    base_checkpoint: int = describe(
        "Base checkpoint",
        "Number in the registry of the checkpoint that training goes on from; its architecture is kept.",
        default=0,
        ge=0,
    )
    team: Literal["", "whole", "partial"] = describe(
        "Team", "Whether it has all skills: data, systems, training, evaluation.", default=""
    )
    notes: Prose = describe(
        "Notes", "Whatever else should be known.", default="", max_length=20_000, form="prose"
    )
    network: CardNetwork = describe(
        "Network", "The network that is meant.", default_factory=CardNetwork
    )
    data: CardData = describe("Data", "The data that are meant.", default_factory=CardData)
    compute: CardCompute = describe(
        "Compute", "The devices that are meant.", default_factory=CardCompute
    )
    plan: CardPlan = describe(
        "Plan", "How it is spread, saved and logged.", default_factory=CardPlan
    )


def read_card(document: Mapping[str, Any]) -> CardFields:
    """Read the fields each by itself: what a stored card, or one half filled in, has.

    Raises:
        ConfigInvalid: With every fault, by the path of its field.
    """
    return parse_as(CardFields, document)


def read_kept(document: Mapping[str, Any]) -> CardFields:
    """Read a stored card: what an earlier version took and this one refuses is as if it were not yet known."""
    try:
        return read_card(document)
    except ConfigInvalid as invalid:
        return usable_part(document, [fault.path for fault in invalid.errors])


def usable_part(document: Mapping[str, Any], refused: Iterable[str]) -> CardFields:
    """Return the card without the fields that were refused, by path; the empty card where that is not enough."""
    left = deepcopy(dict(document))
    for path in refused:
        section, _, name = path.partition(".")
        inner = left.get(section)
        if isinstance(inner, dict) and name:
            inner.pop(name.partition(".")[0], None)
        else:
            left.pop(section, None)
    try:
        return read_card(left)
    except ConfigInvalid:
        return CardFields()


def parse_card(document: Mapping[str, Any]) -> CardFields:
    """Read what a form or the API sent; fields that contradict each other are refused too.

    Raises:
        ConfigInvalid: With every fault, by the path of its field.
    """
    card = read_card(document)
    if faults := card_rules.broken_rules(card):
        raise ConfigInvalid(faults)
    return card


def missing_agreements(card: CardFields) -> list[str]:
    """Return which of the four agreements of CARD-3 are not filled in, by field."""
    filled = {
        "task_form": bool(card.task_form),
        "data.tokens": card.data.tokens > 0,
        "compute.devices": card.compute.devices > 0,
        "acceptance": bool(card.acceptance),
    }
    return [path for path, is_filled in filled.items() if not is_filled]
