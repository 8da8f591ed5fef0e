"""Where the config of a card begins: what the card has decided already is not asked a second time."""

from collections.abc import Mapping
from typing import Any

from safehold.planning.card import CardFields
from safehold.planning.card_sums import global_batch_of, shape_of, steps_of


def config_from(document: Mapping[str, Any], card: CardFields, *, stage: str) -> dict[str, Any]:
    """Return the document with what the card says of network, stage, data and length; the rest stays.

    Args:
        document: What a new config begins with; every section is there.
        card: As far as it is filled in.
        stage: Of the card.
    """
    train = dict(document["train"])
    if steps := steps_of(card):
        train |= {
            "steps": steps,
            "global_batch": global_batch_of(card),
            "accumulation": card.plan.accumulation,
        }
    version = card.data.version
    return {
        **document,
        "stage": stage,
        "network": {**document["network"], **_network(card)},
        "data": {**document["data"], **({"version": version} if version else {})},
        "train": train,
    }  # fmt: skip


def _network(card: CardFields) -> dict[str, Any]:
    """Return the fields of the network that are known; a shape counts whole or not at all."""
    given = card.network.model_dump(exclude={"parameters", "active_parameters"})
    if shape_of(card) is None:
        given = {name: given[name] for name in ("vocabulary", "sequence_length")}
    needed = {"heads", "vocabulary", "sequence_length"}
    return {name: value for name, value in given.items() if value or name not in needed}
