"""`/api/v1/configs/{id}/…`: ask for approval, give it, refuse it, take it back."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common.api import Input, Output, Page, PageQuery, caller
from controlplane.common.errors import NotFound
from runs import access, listings
from runs.api.schemas import FindingOut
from runs.models import Approval
from runs.services import approval_gate, approvals

router = Router(tags=["configs"])


class ApprovalOut(Output):
    """One request for approval and its answer."""

    id: int
    config: int
    hash: str
    base_checkpoint: int | None = Field(description="The checkpoint that a run of it begins with.")
    state: str
    requested_by: str
    requested_at: datetime
    note: str
    decided_by: str | None
    decided_at: datetime | None
    reason: str


class JudgedReportOut(Output):
    """The preflight that was counted."""

    id: int
    verdict: str
    ended_at: datetime | None


class JudgementOut(Output):
    """What is known against a config now."""

    verdict: str = Field(description="The worst finding, as production counts.")
    blocking: list[FindingOut] = Field(description="What refuses an approval.")
    report: JudgedReportOut | None = Field(
        description="The newest whole preflight of this document; null: it was not run."
    )


class NoteIn(Input):
    """What the approver should know."""

    note: str = Field("", max_length=2000)


class ReasonIn(Input):
    """Why, and of what."""

    reason: str = Field(default="", max_length=2000)
    approval: int | None = Field(
        default=None,
        description="The request that was looked at; refused where another one stands now.",
    )


@router.post(
    "/{config_id}/request-approval", response={201: ApprovalOut}, summary="Ask for approval"
)
def request_approval(request: HttpRequest, config_id: int, body: NoteIn | None = None) -> Any:
    """Ask for approval of a frozen production config; asked again it is the same request."""
    user, note = caller(request), body.note if body else ""
    config = access.config_for(user, config_id, change=True)
    asked = approvals.request_approval(user=user, config=config, note=note)
    return Status(201, approval_shape(asked))


@router.post("/{config_id}/approve", response=ApprovalOut, summary="Approve a config")
def approve(request: HttpRequest, config_id: int, body: ReasonIn | None = None) -> Any:
    """Approve it as a second person: never its author, nor who asked."""
    user, said = caller(request), body or ReasonIn()
    standing = _standing(user, config_id, said)
    return approval_shape(approvals.approve(user=user, approval=standing, reason=said.reason))


@router.post("/{config_id}/reject", response=ApprovalOut, summary="Refuse the approval of a config")
def reject(request: HttpRequest, config_id: int, body: ReasonIn) -> Any:
    """Refuse it, with the reason for its author."""
    user = caller(request)
    standing = _standing(user, config_id, body)
    return approval_shape(approvals.reject(user=user, approval=standing, reason=body.reason))


@router.post(
    "/{config_id}/withdraw-approval", response=ApprovalOut, summary="Take an approval back"
)
def withdraw(request: HttpRequest, config_id: int, body: ReasonIn) -> Any:
    """Take a request or an approval back: no further attempt starts."""
    user = caller(request)
    standing = _standing(user, config_id, body)
    return approval_shape(approvals.withdraw(user=user, approval=standing, reason=body.reason))


@router.get("/{config_id}/judgement", response=JudgementOut, summary="Judge a config as of now")
def judgement(request: HttpRequest, config_id: int) -> Any:
    """Return what the rules as of now and the newest preflight say, as an approval would count it."""
    found = approval_gate.judge(access.config_for(caller(request), config_id))
    return {"verdict": found.verdict, "blocking": found.blocking, "report": found.report}


@router.get("/{config_id}/approvals", response=Page[ApprovalOut], summary="List the approvals")
def list_approvals(request: HttpRequest, config_id: int, filters: Query[PageQuery]) -> Any:
    """List what was asked and answered, newest first."""
    config = access.config_for(caller(request), config_id)
    found = config.approvals.select_related("requested_by", "decided_by")
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit, is_strict=True)
    return {"items": [approval_shape(one) for one in page.rows], "next": page.next_cursor or None}


def approval_shape(approval: Approval) -> dict[str, Any]:
    """Return a request with its answer."""
    plain = (
        "id",
        "hash",
        "base_checkpoint",
        "state",
        "requested_at",
        "note",
        "decided_at",
        "reason",
    )
    return {name: getattr(approval, name) for name in plain} | {
        "config": approval.config_id,
        "requested_by": approval.requested_by.username,
        "decided_by": approval.decided_by.username if approval.decided_by else None,
    }


def _standing(user: Any, config_id: int, said: ReasonIn) -> Approval:
    config = access.config_for(user, config_id)
    found = approvals.standing_of(config)
    if found is None:
        told = _("Nobody asked for the approval of config %(id)s.")
        raise NotFound(told % {"id": config_id})
    approvals.require_shown(found, str(said.approval or ""))
    return found
