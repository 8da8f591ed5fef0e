"""From cards to what the API says of them."""

from dataclasses import asdict
from typing import Any

from runs import estimates
from runs.models import Card, CardChange
from runs.services import cards
from safehold import planning


def card_shape(card: Card) -> dict[str, Any]:
    """Return a card as lists show it."""
    fields = planning.read_kept(card.data)
    compute = planning.compute_of(fields)
    return {
        "id": card.pk,
        "project": card.project.slug,
        "name": card.name,
        "question": card.question,
        "stage": card.stage,
        "parent": card.parent_id,
        "pilot": card.pilot,
        "data": fields.model_dump(mode="json"),
        "owner": card.owner.username,
        "created_at": card.created_at,
        "updated_at": card.updated_at,
        "version": cards.version_of(card),
        "parameters": planning.parameters_of(fields),
        "estimate": asdict(compute) if compute else None,
        "missing_agreements": planning.missing_agreements(fields),
    }


def card_detail_shape(card: Card) -> dict[str, Any]:
    """Return a card with all its sums."""
    return card_shape(card) | {"sums": estimates.of_kept(card).to_dict()}


def card_change_shape(change: CardChange) -> dict[str, Any]:
    """Return one line of a card's trail."""
    shown = ("id", "at", "field", "old", "new", "reason")
    return {name: getattr(change, name) for name in shown} | {"user": change.user.username}
