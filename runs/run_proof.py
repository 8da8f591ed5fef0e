"""What proves a run: who approved its config, what it changes and why, what it was launched with."""

from typing import Any

from runs import launch_record
from runs.models import Attempt, Run, RunChange
from runs.services import approvals


def context(run: Run, attempt: Attempt | None) -> dict[str, Any]:
    """Return what the tab *Config & proof* shows beside config and preflight."""
    return {
        "approval": approvals.standing_of(run.config),
        "change": RunChange.objects.select_related("parent_config", "reason_by")
        .filter(run=run)
        .first(),
        "record": launch_record.record_of(run, attempt),
    }
