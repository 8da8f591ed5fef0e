"""What a card leads to: results of its runs, pilots, mixes."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from controlplane.common.api import Input, caller, once
from runs import access, card_export, mixes, results, run_table
from runs.api.card_schemas import MixConfigsOut, MixesOut, PilotOut, ResultsOut
from runs.api.card_shapes import card_detail_shape
from runs.api.shapes import config_shape
from runs.models import Run
from runs.services import pilots

router = Router()
_RUNS = 50


class PilotIn(Input):
    """Which pilot."""

    kind: Literal["pilot", "mix_pilot"] = "pilot"
    name: str = Field("", max_length=200, description="Default: that of the card and the word pilot.")  # fmt: skip


class MixesIn(Input):
    """Shares of the domains by the name of each mix."""

    mixes: dict[str, dict[str, float]]


@router.get("/{card_id}/results", response=ResultsOut, summary="What its runs reached")
def list_results(request: HttpRequest, card_id: int) -> Any:
    """Return the newest runs of the card, each judged metric by metric against its acceptance."""
    card = access.card_for(caller(request), card_id)
    newest = run_table.with_names(Run.objects.filter(card=card)).order_by("-pk")[:_RUNS]
    return {"items": [card_export.result_document(one) for one in results.results_of(card, newest)]}


@router.post("/{card_id}/pilots", response={201: PilotOut}, summary="Make a pilot")
def make_pilot(request: HttpRequest, card_id: int, body: PilotIn) -> Any:
    """Make a shrunk card, linked to this one, and its config where this one has a config."""
    user = caller(request)
    card = access.card_for(user, card_id, act="card.create")

    def make() -> dict[str, Any]:
        made, config = pilots.create_pilot(user=user, card=card, kind=body.kind, name=body.name)
        return {
            "card": card_detail_shape(made),
            "config": config_shape(config) if config else None,
        }

    return Status(201, once(request, make))


@router.post("/{card_id}/mixes", response={201: MixConfigsOut}, summary="Write mixes")
def make_mixes(request: HttpRequest, card_id: int, body: MixesIn) -> Any:
    """Write a config for each mix of a mix pilot."""
    user = caller(request)
    card = access.card_for(user, card_id, act="config.create")

    def make() -> dict[str, Any]:
        made = pilots.create_mixes(user=user, card=card, mixes=body.mixes)
        return {"items": [config_shape(one) for one in made]}

    return Status(201, once(request, make))


@router.get("/{card_id}/mixes", response=MixesOut, summary="Rank mixes")
def rank_mixes(request: HttpRequest, card_id: int) -> Any:
    """Return the mixes of a mix pilot in their places."""
    card = access.card_for(caller(request), card_id)
    return {"items": [mixes.document_of(one) for one in mixes.ranking_of(card)]}
