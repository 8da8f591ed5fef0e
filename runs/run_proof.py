"""What proves a run: who approved its config, what it changes and why, what it was launched with."""

from typing import Any

from runs import launch_record
from runs.models import Approval, Attempt, Run, RunChange
from runs.services import approvals, base_approval, base_lines


def context(run: Run, attempt: Attempt | None) -> dict[str, Any]:
    """Return what the tab *Config & proof* shows beside config and preflight."""
    approval = approvals.standing_of(run.config)
    is_planned = attempt is None and not run.start_checkpoint
    return {
        "approval": approval,
        "other_base": _other_base(run, approval) if approval and is_planned else None,
        "change": RunChange.objects.select_related("parent_config", "reason_by")
        .filter(run=run)
        .first(),
        "record": launch_record.record_of(run, attempt),
    }


def _other_base(run: Run, approval: Approval) -> dict[str, str] | None:
    """Return in words what the run would begin with and what was asked for, where that keeps it from starting."""
    now, then = base_lines.of_run(run), approval.base_checkpoint or 0
    words = base_approval.words
    return {"now": words(now), "then": words(then)} if now != then else None
