"""`/api/v1/audit`: the trail, its export, and the proof that nobody changed it."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router
from pydantic import Field

from controlplane.common import access
from controlplane.common.api.auth import caller
from controlplane.common.api.pages import Page, PageQuery, visible_projects
from controlplane.common.api.schemas import Input, Output
from controlplane.common.models import AuditEntry, Project, User
from controlplane.common.selectors import audit
from controlplane.common.services import audit_checks
from controlplane.common.streams import download

router = Router(tags=["audit"])
FORMATS = {
    "csv": (audit.as_csv, "text/csv; charset=utf-8"),
    "jsonl": (audit.as_json_lines, "application/x-ndjson"),
}


class EntryOut(Output):
    """One act."""

    id: int
    at: datetime
    actor: str
    project: int | None
    action: str
    object_type: str
    object_id: str
    data: dict[str, Any]
    prev_hash: str
    hash: str


class AuditQuery(PageQuery):
    """Which entries."""

    actor: str = Field("", max_length=150, description="A user name.")
    action: str = Field(
        "", max_length=60, description="An act, or the noun that acts begin with: member."
    )
    object_type: str = Field("", max_length=40, description="run, config, membership …")
    object_id: str = Field("", max_length=40)
    since: datetime | None = None
    until: datetime | None = None

    def filters(self) -> audit.Filters:
        """Return them as the selector takes them."""
        names = ("actor", "action", "object_type", "object_id", "since", "until")
        return audit.Filters(**{name: getattr(self, name) for name in names})


class ExportQuery(AuditQuery):
    """Which entries, and how."""

    format: Literal["jsonl", "csv"] = "jsonl"


class VerifyAgainst(Input):
    """What to verify against."""

    head: str = Field(
        "", max_length=64, description="A digest noted earlier; it must still be in the chain."
    )


class CheckOut(Output):
    """A verification of the whole trail."""

    verdict: Literal["pass", "fail"]
    at: datetime
    num_entries: int
    head: str = Field(description="Digest of the newest entry: note it outside of the service.")
    num_faults: int
    faults: list[tuple[int, str]] = Field(description="Entry and what is wrong, at most a hundred.")
    seconds: float


@router.get("", response=Page[EntryOut], summary="List the audit trail")
def list_entries(request: HttpRequest, filters: Query[AuditQuery]) -> Any:
    """List what you may read of it, newest first."""
    rows, following = audit.page(
        _found(request, filters), cursor=filters.cursor, size=filters.limit, is_strict=True
    )
    return {"items": [_shape(row) for row in rows], "next": following or None}


@router.get(
    "/export",
    summary="Download the audit trail",
    openapi_extra={"responses": {200: {"description": "A file."}}},
)
def export(request: HttpRequest, filters: Query[ExportQuery]) -> HttpResponseBase:
    """Download what the filters choose, as CSV or as one JSON object a line; cursor and limit do not count."""
    write, content_type = FORMATS[filters.format]
    parts = write(_found(request, filters))
    return download(request, parts, file_name=f"audit.{filters.format}", content_type=content_type)


@router.post("/verify", response=CheckOut, summary="Verify the audit trail")
def verify(request: HttpRequest, body: VerifyAgainst | None = None) -> Any:
    """Compute every digest anew; with `head`, say whether that entry is still in the chain."""
    if body is not None and body.head:
        audit_checks.position_of(body.head)
    made = audit_checks.verify(user=caller(request))
    plain = ("at", "num_entries", "head", "num_faults", "faults", "seconds")
    return {name: getattr(made, name) for name in plain} | {
        "verdict": "fail" if made.num_faults else "pass"
    }


def _found(request: HttpRequest, filters: AuditQuery) -> Any:
    user = caller(request)
    return audit.entries(user, filters.filters(), project=_project(user, filters.project))


def _project(user: User, slug: str | None) -> Project | None:
    if slug is None:
        return None
    project = visible_projects(user, slug).get()
    access.require(user, project.pk, "audit.read")
    return project


def _shape(entry: AuditEntry) -> dict[str, Any]:
    plain = ("id", "at", "action", "object_type", "object_id", "data", "prev_hash", "hash")
    return {name: getattr(entry, name) for name in plain} | {
        "actor": entry.actor_name,
        "project": entry.project_id,
    }
