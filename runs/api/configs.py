"""`/api/v1/configs` and `/api/v1/preflights`."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field, model_validator

from controlplane.common.api import (
    Id,
    Input,
    Output,
    Page,
    PageQuery,
    caller,
    once,
    project_for,
    visible_projects,
)
from runs import access, listings
from runs.api import approvals
from runs.api.schemas import ConfigDetailOut, ConfigOut, DiffOut, ReportOut
from runs.api.shapes import config_detail_shape, config_shape, diff_shape, report_shape
from runs.models import Config
from runs.services import approvals as approval_service
from runs.services import configs, preflight
from runs.services import manifests as previews
from safehold.config import RunConfig

router = Router(tags=["configs"])
router.add_router("", approvals.router)
reports = Router(tags=["preflight"])


class ConfigIn(Input):
    """A new config: the document, or its text as TOML, YAML 1.2 or JSON."""

    document: dict[str, Any] | None = Field(None, description="As `/configs/schema` says.")
    toml: str | None = None
    text: str | None = Field(None, description="In the form that `format` names.")
    format: Literal["toml", "yaml", "json"] = "toml"
    card: Id | None = None
    parent: Id | None = Field(None, description="The config that this one follows.")
    project: str | None = None

    @model_validator(mode="after")
    def _has_one_form(self) -> "ConfigIn":
        if sum(one is not None for one in (self.document, self.toml, self.text)) != 1:
            raise ValueError("give one of document, toml and text")
        return self


class ConfigQuery(PageQuery):
    """Which configs."""

    kind: Literal["experiment", "production"] | None = None
    approval: Literal["requested", "approved", "rejected", "withdrawn"] | None = Field(
        None, description="State of the newest approval."
    )


class ManifestsOut(Output):
    """The objects of a launch."""

    objects: list[dict[str, Any]]
    yaml: str


class ChecksIn(Input):
    """Which checks to run."""

    only: list[str] = Field(default_factory=list, description="Groups or codes; all when empty.")


@router.get("", response=Page[ConfigOut], summary="List configs")
def list_configs(request: HttpRequest, filters: Query[ConfigQuery]) -> Any:
    """List the configs that you see, newest first."""
    projects = visible_projects(caller(request), filters.project)
    found = (
        Config.objects.filter(project__in=projects)
        .select_related("project", "created_by", "frozen_by")
        .annotate(approval_state=approval_service.newest_state())
        .defer("document")
    )
    if filters.kind:
        found = found.filter(kind=filters.kind)
    if filters.approval:
        found = found.filter(approval_state=filters.approval)
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit, is_strict=True)
    return {
        "items": [config_shape(config) for config in page.rows],
        "next": page.next_cursor or None,
    }


@router.post("", response={201: ConfigDetailOut}, summary="Store a config")
def create(request: HttpRequest, body: ConfigIn) -> Any:
    """Store a config; what cannot work is refused by field."""
    user = caller(request)

    def make() -> dict[str, Any]:
        card = access.card_for(user, body.card) if body.card is not None else None
        parent = access.config_for(user, body.parent) if body.parent is not None else None
        given = _given(body)
        project = project_for(user, body.project or _slug(card, parent))
        return config_detail_shape(
            configs.create_config(user=user, project=project, card=card, parent=parent, **given)
        )

    return Status(201, once(request, make))


@router.get("/schema", response=dict[str, Any], summary="JSON Schema of the document")
def schema(request: HttpRequest) -> Any:
    """Return the JSON Schema of a config document, with title, description and unit of each field."""
    return RunConfig.model_json_schema()


@router.get("/{config_id}", response=ConfigDetailOut, summary="Show a config")
def show(request: HttpRequest, config_id: int) -> Any:
    """Show a config with its document."""
    return config_detail_shape(access.config_for(caller(request), config_id))


@router.get("/{config_id}/diff", response=DiffOut, summary="Compare two configs")
def diff(request: HttpRequest, config_id: int, other: Id) -> Any:
    """Return what changes from this config to the other."""
    user = caller(request)
    return diff_shape(access.config_for(user, config_id), access.config_for(user, other))


@router.get(
    "/{config_id}/manifests", response=ManifestsOut, summary="Preview what a launch would make"
)
def manifests(request: HttpRequest, config_id: int, cluster: str = "") -> Any:
    """Return the objects that a launch would make in a cluster, as JSON and as YAML; nothing secret is in them."""
    config = access.config_for(caller(request), config_id)
    made = previews.manifests(config=config, cluster=cluster)
    return {"objects": made, "yaml": previews.as_yaml(made)}


@router.post("/{config_id}/freeze", response=ConfigOut, summary="Freeze a config")
def freeze(request: HttpRequest, config_id: int) -> Any:
    """Freeze a config; asked again it stays as it is."""
    config = access.config_for(caller(request), config_id, change=True)
    return config_shape(configs.freeze(user=caller(request), config=config))


@router.post(
    "/{config_id}/preflight", response={201: ReportOut}, summary="Run the checks of a config"
)
def check(request: HttpRequest, config_id: int, body: ChecksIn) -> Any:
    """Run the checks; the report is done at once, or later where much data must be read."""
    user = caller(request)
    config = access.config_for(user, config_id, change=True)

    def make() -> dict[str, Any]:
        return report_shape(preflight.request(config=config, user=user, only=body.only))

    return Status(201, once(request, make))


@router.get(
    "/{config_id}/preflight", response=Page[ReportOut], summary="List the reports of a config"
)
def list_reports(request: HttpRequest, config_id: int, filters: Query[PageQuery]) -> Any:
    """List the preflight reports of a config, newest first."""
    config = access.config_for(caller(request), config_id)
    page = listings.page_of(
        config.preflight_reports.all(), cursor=filters.cursor, size=filters.limit, is_strict=True
    )
    return {
        "items": [report_shape(report) for report in page.rows],
        "next": page.next_cursor or None,
    }


@reports.get("/{report_id}", response=ReportOut, summary="Show a preflight report")
def show_report(request: HttpRequest, report_id: int) -> Any:
    """Show a preflight report."""
    return report_shape(access.report_for(caller(request), report_id))


def _given(body: ConfigIn) -> dict[str, Any]:
    if body.document is not None:
        return {"document": body.document}
    if body.toml is not None:
        return {"text": body.toml}
    return {"text": body.text, "format": body.format}


def _slug(*things: Any) -> str | None:
    return next((thing.project.slug for thing in things if thing is not None), None)
