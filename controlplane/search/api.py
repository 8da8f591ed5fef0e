"""`/api/v1/search`: what the search of the pages finds."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field

from controlplane.common.api import Output, caller, visible_projects
from controlplane.search.finding import search

router = Router(tags=["search"])


class SearchQuery(Schema):
    """What to look for."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field(
        min_length=1,
        max_length=200,
        description="A part of a name, a tag, the beginning of a digest, a number.",
    )
    project: str | None = Field(None, description="Slug; all that you see when left out.")


class HitOut(Output):
    """One thing that was found."""

    kind: Literal["run", "card", "config", "checkpoint"]
    id: int
    name: str
    project: str
    state: str
    note: str
    href: str = Field(description="Path of its page.")


class HitsOut(Output):
    """At most ten of each kind, newest first."""

    items: list[HitOut]
    next: None = None


@router.get("", response=HitsOut, summary="Search runs, cards, configs and checkpoints")
def find(request: HttpRequest, query: Query[SearchQuery]) -> Any:
    """Find runs, cards, configs and checkpoints by name, tag, digest or number."""
    found = search(query.q, visible_projects(caller(request), query.project))
    return {"items": [asdict(hit) for one in found for hit in one.hits]}
