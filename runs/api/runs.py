"""`/api/v1/runs`: make, list, show."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common.api import Input, Page, PageQuery, caller, once, visible_projects
from runs import access, listings, run_table
from runs.api import run_acts, run_forecast, run_metrics, run_preflight, run_reading
from runs.api.schemas import RunDetailOut, RunOut
from runs.api.shapes import run_shape, run_shapes
from runs.models import Run
from runs.services import runs

router = Router(tags=["runs"])
router.add_router("", run_acts.router)
router.add_router("", run_reading.router)
router.add_router("", run_metrics.router)
router.add_router("", run_preflight.router)
router.add_router("", run_forecast.router)


class RunIn(Input):
    """A new run."""

    config: int
    card: int | None = Field(None, description="The card of the config when left out.")
    name: str = Field("", max_length=120, description="The name of the config when empty.")
    launcher: str = Field(
        "", max_length=40, description="local or kubernetes:CLUSTER; that of the config when empty."
    )


class RunQuery(PageQuery):
    """Which runs."""

    state: Literal["active", "draft", "failed", "finished", "stopped"] | None = None
    name: str = Field("", max_length=120, description="A part of the name.")
    config: int | None = None
    card: int | None = None
    parent: int | None = Field(None, description="Forks of this run.")


@router.get("", response=Page[RunOut], summary="List runs")
def list_runs(request: HttpRequest, filters: Query[RunQuery]) -> Any:
    """List the runs that you see, newest first."""
    found = run_table.with_names(
        Run.objects.filter(project__in=visible_projects(caller(request), filters.project))
    )
    for column in ("config", "card", "parent"):
        if (value := getattr(filters, column)) is not None:
            found = found.filter(**{f"{column}_id": value})
    if filters.name:
        found = found.filter(name__icontains=filters.name)
    if filters.state:
        found = run_table.in_state(found, filters.state)
    page = listings.page_of(
        found.select_related("project"), cursor=filters.cursor, size=filters.limit
    )
    return {"items": run_shapes(page.rows), "next": page.next_cursor or None}


@router.post("", response={201: RunDetailOut}, summary="Make a run")
def create(request: HttpRequest, body: RunIn) -> Any:
    """Make a run of a config; nothing starts yet."""
    user = caller(request)

    def make() -> dict[str, Any]:
        config = access.config_for(user, body.config, act="run.create")
        card = access.card_for(user, body.card) if body.card is not None else None
        return run_shape(
            runs.create_run(
                user=user,
                project=config.project,
                config=config,
                card=card,
                name=body.name,
                launcher=body.launcher,
            )
        )

    return Status(201, once(request, make))


@router.get("/{run_id}", response=RunDetailOut, summary="Show a run")
def show(request: HttpRequest, run_id: int) -> Any:
    """Show a run with its attempts."""
    return run_shape(access.run_for(caller(request), run_id))
