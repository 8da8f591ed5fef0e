"""`/api/v1/runs`: make, list, show."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common.api import Id, Input, Page, PageQuery, caller, mark, once, visible_projects
from runs import access, run_orders, run_table
from runs.api import (
    run_acts,
    run_forecast,
    run_metrics,
    run_preflight,
    run_reading,
    run_record,
    run_shelf,
)
from runs.api.schemas import RunDetailOut, RunOut
from runs.api.shapes import run_shape, run_shapes
from runs.models import Run
from runs.services import runs

router = Router(tags=["runs"])
router.add_router("", run_acts.router)
router.add_router("", run_reading.router)
router.add_router("", run_metrics.router)
router.add_router("", run_preflight.router)
router.add_router("", run_record.router)
router.add_router("", run_shelf.router)
router.add_router("", run_forecast.router)


class RunIn(Input):
    """A new run."""

    config: Id
    card: Id | None = Field(None, description="The card of the config when left out.")
    name: str = Field("", max_length=200, description="The name of the config when empty.")
    launcher: str = Field(
        "", max_length=40, description="local or kubernetes:CLUSTER; that of the config when empty."
    )
    reason: str = Field("", max_length=2000, description="Why more than one variable changes.")


class RunQuery(PageQuery):
    """Which runs, in which order."""

    state: Literal["active", "draft", "failed", "finished", "stopped"] | None = None
    name: str = Field("", max_length=200, description="A part of the name.")
    q: str = Field(
        "", max_length=200, description="A part of name, card, config, owner or group; a tag."
    )
    owner: str = Field("", max_length=150, description="User name.")
    group: str = Field("", max_length=120)
    tag: str = Field("", max_length=40)
    shelf: Literal["", "archived", "all"] = Field(
        "", description="Archived and deleted runs are left out unless asked for."
    )
    config: Id | None = None
    card: Id | None = None
    parent: Id | None = Field(None, description="Forks of this run.")
    weights_of: Id | None = Field(
        None, description="Runs that began with the weights of a checkpoint of this run."
    )
    order: Literal["newest", "oldest", "name", "activity", "loss", "step", "state"] = "newest"

    def filters(self) -> run_table.RunFilters:
        """Return them as the table takes them."""
        return run_table.RunFilters(
            text=self.q, state=self.state or "", owner=self.owner, group=self.group, tag=self.tag, shelf=self.shelf,
            config_id=self.config, card_id=self.card, parent_id=self.parent, weights_of=self.weights_of,
        )  # fmt: skip


@router.get("", response=Page[RunOut], summary="List runs")
def list_runs(request: HttpRequest, filters: Query[RunQuery]) -> Any:
    """List the runs that you see, newest first unless another order is asked for."""
    projects = visible_projects(caller(request), filters.project)
    runs = run_table.with_names(Run.objects.filter(project__in=projects)).select_related("project")
    found = run_table.filtered(runs, filters.filters())
    if filters.name:
        found = found.filter(name__icontains=filters.name)
    page = run_orders.ordered(
        found, order=filters.order, cursor=filters.cursor, size=filters.limit, is_strict=True
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
                reason=body.reason,
            )
        )

    return Status(201, once(request, make))


@router.get("/{run_id}", response=RunDetailOut, summary="Show a run")
def show(request: HttpRequest, response: HttpResponse, run_id: int) -> Any:
    """Show a run with its attempts."""
    answer = run_shape(access.run_for(caller(request), run_id))
    mark(response, answer["version"])
    return answer


router.patch("/{run_id}", response=RunDetailOut, summary="Name, group, tag and annotate a run")(
    run_shelf.label
)
router.delete("/{run_id}", response={202: RunDetailOut}, summary="Have a run deleted")(
    run_shelf.delete
)
