"""`/api/v1/runs/{id}/record`: what it was launched with, what it changes, who approved it."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router
from pydantic import Field

from controlplane.common.api import Output, caller
from runs import access, launch_record, starts
from runs.api.approvals import ApprovalOut, approval_shape
from runs.models import RunChange
from runs.services import approvals

router = Router(tags=["runs"])


class FactorOut(Output):
    """One variable that changed, and the fields that follow from it."""

    name: str
    title: str
    paths: list[str]
    following: list[str]


class RunChangeOut(Output):
    """What a run changes against the config that it follows."""

    parent_config: int
    parent_base_checkpoint: int | None
    base_checkpoint: int | None = Field(
        description="That it begins with; another one than `parent_base_checkpoint` counts as a variable."
    )
    num_factors: int
    more_than_one: bool
    factors: list[FactorOut]
    reason: str
    reason_by: str | None
    reason_at: datetime | None


class RecordOut(Output):
    """What the newest attempt of a run was launched with; `change` is null where it follows nothing."""

    config: int
    config_hash: str
    kind: str
    code_commit: str
    code_dirty: str
    image: str
    image_digests: list[str]
    data_version: str
    tokenizer_digest: str
    mix_version: str
    seed: int | None
    libraries: dict[str, Any]
    nodes: list[str]
    base_checkpoint: int | None = Field(description="The checkpoint whose weights it began with.")
    approval: ApprovalOut | None
    change: RunChangeOut | None


@router.get("/{run_id}/record", response=RecordOut, summary="Show what a run was launched with")
def show_record(request: HttpRequest, run_id: int) -> Any:
    """Show code, image, data, tokenizer, seed, libraries and nodes; the variables it changes and why; its approval."""
    run = access.run_for(caller(request), run_id)
    attempt = run.attempts.select_related("sight").first()
    given = approvals.standing_of(run.config)
    changed = RunChange.objects.select_related("reason_by").filter(run=run).first()
    return asdict(launch_record.record_of(run, attempt)) | {
        "config": run.config_id, "kind": run.config.kind,
        "base_checkpoint": starts.base_of(run.start_checkpoint) or None,
        "approval": approval_shape(given) if given else None,
        "change": _change_shape(changed) if changed else None,
    }  # fmt: skip


def _change_shape(changed: RunChange) -> dict[str, Any]:
    return {
        "parent_config": changed.parent_config_id, "parent_base_checkpoint": changed.parent_base,
        "base_checkpoint": changed.base, "num_factors": changed.num_factors,
        "more_than_one": changed.more_than_one, "factors": changed.factors, "reason": changed.reason,
        "reason_by": changed.reason_by.username if changed.reason_by else None, "reason_at": changed.reason_at,
    }  # fmt: skip
