"""`/api/v1/views`: lists of runs under a name."""

from typing import Any

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
from runs import listings
from runs.api.schemas import ViewOut
from runs.api.shapes import view_shape
from runs.services import saved_views

router = Router(tags=["runs"])


class ViewBody(Input):
    """Filters and order of the list of runs."""

    name: str = Field(min_length=1, max_length=80)
    query: str = Field(
        "", max_length=1000, description="As in the address of the list: state=active&tag=a."
    )
    is_shared: bool = Field(False, description="Whether all members of the project see it.")
    project: str | None = None


@router.get("", response=Page[ViewOut], summary="List saved views")
def list_views(request: HttpRequest, filters: Query[PageQuery]) -> Any:
    """List your views and the shared ones, by name."""
    user = caller(request)
    projects = visible_projects(user, filters.project)
    found = saved_views.all_views(user, projects).select_related("project", "user")
    page = listings.page_of(
        found, order="name", cursor=filters.cursor, size=filters.limit, is_strict=True
    )
    return {"items": [view_shape(view) for view in page.rows], "next": page.next_cursor or None}


@router.post("", response={201: ViewOut}, summary="Keep a view")
def save(request: HttpRequest, body: ViewBody) -> Any:
    """Keep a list of runs under a name; the same name again replaces your own."""
    user = caller(request)

    def make() -> dict[str, Any]:
        project = project_for(user, body.project)
        made = saved_views.save_view(
            user=user, project=project, name=body.name, query=body.query, is_shared=body.is_shared
        )
        return view_shape(made)

    return Status(201, once(request, make))


@router.delete("/{view_id}", response={204: None}, summary="Forget a view")
def remove(request: HttpRequest, view_id: int) -> Any:
    """Forget a view of yours; an admin forgets any that is shared."""
    saved_views.remove_view(user=caller(request), view_id=view_id)
    return Status(204, None)
