"""`/api/v1/checkpoints`: list, show, verify, pin, lineage. Pods register at `checkpoints.pods`."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from checkpoints import access, selectors
from checkpoints.graph import graph_of
from checkpoints.models import Checkpoint, Verification
from checkpoints.selectors.lineage import lineage_of
from checkpoints.services import registry, verification
from controlplane.common.access import projects_of
from controlplane.common.api import Id, Input, Output, Page, PageQuery, caller, visible_projects

router = Router(tags=["checkpoints"])


class CheckpointOut(Output):
    """A checkpoint as a list shows it."""

    id: int
    project: str
    run: int
    attempt: int = Field(description="Number of the attempt within the run.")
    step: int
    tokens: int | None
    kind: str
    state: str
    path: str
    size_bytes: int
    is_pinned: bool
    parent: int | None
    config_hash: str
    data_version: str
    tokenizer_digest: str
    error: str
    created_at: datetime
    saved_at: datetime | None
    verified_at: datetime | None
    state_at: datetime


class VerificationOut(Output):
    """One verification; the verdict is empty until it is done."""

    id: int
    checkpoint: int
    state: str
    verdict: str
    findings: list[dict[str, Any]]
    facts: dict[str, Any]
    error: str
    requested_by: str | None
    requested_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    num_tries: int
    progress_bytes: int
    worker: str


class CheckpointDetailOut(CheckpointOut):
    """A checkpoint with its verifications, the newest first."""

    judgement: str = Field(description="What the loss that followed said; empty until judged.")
    verifications: list[VerificationOut]
    manifest: dict[str, Any] | None = Field(description="Only with `manifest=true`.")


class GraphOut(Output):
    """Ancestors and descendants; ids are unique across the kinds of nodes."""

    checkpoint: int
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    num_hidden: int = Field(description="Checkpoints in projects that you are no member of.")
    is_cut: bool


class CheckpointQuery(PageQuery):
    """Which checkpoints."""

    run: Id | None = None
    state: Checkpoint.State | None = None
    kind: Checkpoint.Kind | None = None
    pinned: bool | None = None
    order: Literal["newest", "oldest", "step", "size"] = "newest"


class PinIn(Input):
    """Whether to keep it from every clean-up."""

    pinned: bool = True


@router.get("", response=Page[CheckpointOut], summary="List checkpoints")
def list_checkpoints(request: HttpRequest, filters: Query[CheckpointQuery]) -> Any:
    """List the checkpoints that you see, the newest first."""
    page = selectors.page(
        projects=visible_projects(caller(request), filters.project),
        filters=selectors.Filters(
            run_id=filters.run,
            state=filters.state or "",
            kind=filters.kind or "",
            is_pinned=filters.pinned,
            order=filters.order,
            cursor=filters.cursor,
        ),
        size=filters.limit,
        is_strict=True,
    )
    return {"items": [_shape(row) for row in page.rows], "next": page.next_cursor or None}


@router.get("/{checkpoint_id}", response=CheckpointDetailOut, summary="Show a checkpoint")
def show(request: HttpRequest, checkpoint_id: int, manifest: bool = False) -> Any:
    """Show a checkpoint with its proof; the manifest on demand, for it can take megabytes."""
    found = access.checkpoint_for(caller(request), checkpoint_id, manifest=manifest)
    proofs = found.verifications.select_related("requested_by").order_by("-pk")
    return _shape(found) | {
        "judgement": found.judgement,
        "verifications": [_verification(proof) for proof in proofs],
        "manifest": found.manifest if manifest else None,
    }


@router.post("/{checkpoint_id}/verify", response={202: VerificationOut}, summary="Verify again")
def verify(request: HttpRequest, checkpoint_id: int) -> Any:
    """Ask for a verification, or return the one that is open."""
    user = caller(request)
    found = access.checkpoint_for(user, checkpoint_id, change=True)
    return Status(202, _verification(verification.request(checkpoint=found, user=user)))


@router.post("/{checkpoint_id}/pin", response=CheckpointOut, summary="Pin or unpin")
def pin(request: HttpRequest, checkpoint_id: int, body: PinIn | None = None) -> Any:
    """Keep the checkpoint from every clean-up, or no longer."""
    user, is_pinned = caller(request), body.pinned if body else True
    found = access.checkpoint_for(user, checkpoint_id, change=True)
    registry.pin(checkpoint=found, user=user, is_pinned=is_pinned)
    return _shape(found)


@router.get("/{checkpoint_id}/lineage", response=GraphOut, summary="Ancestors and descendants")
def lineage(request: HttpRequest, checkpoint_id: int) -> Any:
    """Say what it is made of, and what was made from it."""
    user = caller(request)
    found = access.checkpoint_for(user, checkpoint_id)
    return graph_of(lineage_of(found, projects=projects_of(user)))


def _shape(checkpoint: Checkpoint) -> dict[str, Any]:
    plain = ("step", "tokens", "kind", "state", "path", "size_bytes", "is_pinned", "config_hash", "data_version",
             "tokenizer_digest", "error", "created_at", "saved_at", "verified_at", "state_at")  # fmt: skip
    return {name: getattr(checkpoint, name) for name in plain} | {
        "id": checkpoint.pk,
        "project": checkpoint.run.project.slug,
        "run": checkpoint.run_id,
        "attempt": checkpoint.attempt.number,
        "parent": checkpoint.parent_id,
    }


def _verification(proof: Verification) -> dict[str, Any]:
    plain = ("state", "verdict", "findings", "facts", "error", "requested_at", "started_at", "ended_at",
             "num_tries", "progress_bytes", "worker")  # fmt: skip
    return {name: getattr(proof, name) for name in plain} | {
        "id": proof.pk,
        "checkpoint": proof.checkpoint_id,
        "requested_by": proof.requested_by.username if proof.requested_by else None,
    }
