"""`/api/v1/cards`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common.api import (
    Id,
    Input,
    Page,
    PageQuery,
    caller,
    mark,
    once,
    project_for,
    seen_version,
    visible_projects,
)
from runs import access, card_export, estimates, listings
from runs.api import card_pilots
from runs.api.card_schemas import CardChangeOut, CardDetailOut, CardOut
from runs.api.card_shapes import card_change_shape, card_detail_shape, card_shape
from runs.models import Card
from runs.services import cards
from runs.services.configs import refusal
from safehold.config import ConfigInvalid
from safehold.planning import parse_card

router = Router(tags=["cards"])
router.add_router("", card_pilots.router)
Name = Annotated[str, Field(min_length=1, max_length=200)]


class CardIn(Input):
    """A new card; the sections may be filled in later."""

    name: Name
    question: str = ""
    stage: str = "pretrain"
    data: dict[str, Any] = Field(
        default_factory=dict,
        description="Sections network, data, compute, plan; and the fields beside them: docs/reference/card.md.",
    )
    project: str | None = None


class CardPatch(Input):
    """What is given replaces what was, within `data` field by field; `reason` is kept in the trail."""

    name: Name | None = None
    question: str | None = None
    stage: str | None = None
    data: dict[str, Any] | None = None
    reason: str = ""


class EstimateIn(Input):
    """Fields of a card that need not exist."""

    stage: Literal["pretrain", "continued", "sft", "preference"] = "pretrain"
    data: dict[str, Any] = Field(default_factory=dict)


class CardQuery(PageQuery):
    """Which cards."""

    stage: str = Field("", description="pretrain, continued, sft or preference.")
    name: str = Field("", max_length=200, description="A part of the name.")
    parent: Id | None = Field(None, description="Pilots of this card.")


@router.get("", response=Page[CardOut], summary="List cards")
def list_cards(request: HttpRequest, filters: Query[CardQuery]) -> Any:
    """List the cards that you see, newest first."""
    projects = visible_projects(caller(request), filters.project)
    found = Card.objects.filter(project__in=projects).select_related("project", "owner")
    if filters.stage:
        found = found.filter(stage=filters.stage)
    if filters.name:
        found = found.filter(name__icontains=filters.name)
    if filters.parent is not None:
        found = found.filter(parent=filters.parent)
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit, is_strict=True)
    return {"items": [card_shape(card) for card in page.rows], "next": page.next_cursor or None}


@router.post("", response={201: CardDetailOut}, summary="Make a card")
def create(request: HttpRequest, body: CardIn) -> Any:
    """Make a card."""
    user = caller(request)

    def make() -> dict[str, Any]:
        project = project_for(user, body.project)
        given = {name: getattr(body, name) for name in ("name", "question", "stage", "data")}
        return card_detail_shape(cards.create_card(user=user, project=project, **given))

    return Status(201, once(request, make))


@router.post("/estimate", response=dict[str, Any], summary="Reckon without keeping")
def estimate(request: HttpRequest, body: EstimateIn) -> Any:
    """Return what the fields of a card come to; nothing is kept."""
    caller(request)
    try:
        return estimates.of_card(parse_card(body.data), body.stage).to_dict()
    except ConfigInvalid as error:
        raise cards.refused(refusal(error).fields) from error


@router.get("/{card_id}", response=CardDetailOut, summary="Show a card")
def show(request: HttpRequest, response: HttpResponse, card_id: int) -> Any:
    """Show a card with its sums: compute, memory, forecast, advice."""
    return _marked(response, access.card_for(caller(request), card_id))


@router.patch("/{card_id}", response=CardDetailOut, summary="Change a card")
def change(request: HttpRequest, response: HttpResponse, card_id: int, body: CardPatch) -> Any:
    """Change a card; every changed field is kept in its trail."""
    card = access.card_for(caller(request), card_id, change=True)
    given = {
        name: value for name, value in body.dict(exclude_unset=True).items() if value is not None
    }
    if "data" in given:
        given["data"] = merged(card.data, given["data"])
    seen_at = cards.seen_at_of(seen_version(request))
    cards.update_card(user=caller(request), card=card, seen_at=seen_at, **given)
    return _marked(response, access.card_for(caller(request), card_id))


@router.get(
    "/{card_id}/changes", response=Page[CardChangeOut], summary="List the changes of a card"
)
def list_changes(request: HttpRequest, card_id: int, filters: Query[PageQuery]) -> Any:
    """List every change: who, when, old, new, why."""
    card = access.card_for(caller(request), card_id)
    page = listings.page_of(
        card.changes.select_related("user"),
        cursor=filters.cursor,
        size=filters.limit,
        is_strict=True,
    )
    return {
        "items": [card_change_shape(change) for change in page.rows],
        "next": page.next_cursor or None,
    }


@router.get("/{card_id}/export", response=dict[str, Any], summary="Export a card")
def export(request: HttpRequest, card_id: int, form: Literal["json", "markdown"] = "json") -> Any:
    """Return the card, its sums, what its runs reached and its whole trail; as Markdown on request."""
    document = card_export.document_of(access.card_for(caller(request), card_id))
    if form == "json":
        return document
    return HttpResponse(
        card_export.as_markdown(document), content_type="text/markdown; charset=utf-8"
    )


def _marked(response: HttpResponse, card: Card) -> dict[str, Any]:
    mark(response, cards.version_of(card))
    return card_detail_shape(card)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return `old` with the fields of `new`; tables are merged, lists replaced."""
    shared = old.keys() & new.keys()
    both = {
        name: merged(old[name], new[name]) for name in shared if _are_tables(old[name], new[name])
    }
    return {**old, **new, **both}


def _are_tables(*values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)
