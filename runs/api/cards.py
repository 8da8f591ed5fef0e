"""`/api/v1/cards`."""

from collections.abc import Mapping
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common.api import (
    Input,
    Page,
    PageQuery,
    caller,
    once,
    project_for,
    visible_projects,
)
from runs import access, listings
from runs.api.schemas import CardChangeOut, CardOut
from runs.api.shapes import card_change_shape, card_shape
from runs.models import Card
from runs.services import cards

router = Router(tags=["cards"])
Name = Annotated[str, Field(min_length=1, max_length=120)]


class CardIn(Input):
    """A new card; the sections may be filled in later."""

    name: Name
    question: str = ""
    stage: str = "pretrain"
    data: dict[str, Any] = Field(
        default_factory=dict, description="Sections network, data, compute; task_form; acceptance."
    )
    project: str | None = None


class CardPatch(Input):
    """What is given replaces what was, within `data` field by field; `reason` is kept in the trail."""

    name: Name | None = None
    question: str | None = None
    stage: str | None = None
    data: dict[str, Any] | None = None
    reason: str = ""


@router.get("", response=Page[CardOut], summary="List cards")
def list_cards(request: HttpRequest, filters: Query[PageQuery]) -> Any:
    """List the cards that you see, newest first."""
    projects = visible_projects(caller(request), filters.project)
    found = Card.objects.filter(project__in=projects).select_related("project", "owner")
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit)
    return {"items": [card_shape(card) for card in page.rows], "next": page.next_cursor or None}


@router.post("", response={201: CardOut}, summary="Make a card")
def create(request: HttpRequest, body: CardIn) -> Any:
    """Make a card."""
    user = caller(request)

    def make() -> dict[str, Any]:
        project = project_for(user, body.project)
        card = cards.create_card(
            user=user,
            project=project,
            name=body.name,
            question=body.question,
            stage=body.stage,
            data=body.data,
        )
        return card_shape(card)

    return Status(201, once(request, make))


@router.get("/{card_id}", response=CardOut, summary="Show a card")
def show(request: HttpRequest, card_id: int) -> Any:
    """Show a card with its sums."""
    return card_shape(access.card_for(caller(request), card_id))


@router.patch("/{card_id}", response=CardOut, summary="Change a card")
def change(request: HttpRequest, card_id: int, body: CardPatch) -> Any:
    """Change a card; every changed field is kept in its trail."""
    card = access.card_for(caller(request), card_id, change=True)
    given = {
        name: value for name, value in body.dict(exclude_unset=True).items() if value is not None
    }
    if "data" in given:
        given["data"] = merged(card.data, given["data"])
    cards.update_card(user=caller(request), card=card, **given)
    return card_shape(access.card_for(caller(request), card_id))


@router.get(
    "/{card_id}/changes", response=Page[CardChangeOut], summary="List the changes of a card"
)
def list_changes(request: HttpRequest, card_id: int, filters: Query[PageQuery]) -> Any:
    """List every change: who, when, old, new, why."""
    card = access.card_for(caller(request), card_id)
    page = listings.page_of(
        card.changes.select_related("user"), cursor=filters.cursor, size=filters.limit
    )
    return {
        "items": [card_change_shape(change) for change in page.rows],
        "next": page.next_cursor or None,
    }


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return `old` with the fields of `new`; tables are merged, lists replaced."""
    shared = old.keys() & new.keys()
    both = {
        name: merged(old[name], new[name]) for name in shared if _are_tables(old[name], new[name])
    }
    return {**old, **new, **both}


def _are_tables(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)
