"""What proves a run: who approved its config, what it changes and why, what it was launched with, how its loss began."""

from typing import Any

from runs import launch_record
from runs.models import Attempt, Run, RunChange
from runs.services import approvals, rule_facts
from safehold.findings import Finding
from safehold.rulebook import Situation

_FIRST = "starting_loss.first"


def context(run: Run, attempt: Attempt | None) -> dict[str, Any]:
    """Return what the tab *Config & proof* shows beside config and preflight."""
    return {
        "approval": approvals.standing_of(run.config),
        "change": RunChange.objects.select_related("parent_config", "reason_by")
        .filter(run=run)
        .first(),
        "record": launch_record.record_of(run, attempt),
        "starting_loss": starting_loss(run),
    }


def starting_loss(run: Run) -> Finding | None:
    """Return what the first loss says (PLAN-4); None of a fork, of other stages, or before the first step."""
    first = rule_facts.first_loss_of(run)
    config = rule_facts.read(run.config)
    if first is None or config is None or config.stage != "pretrain":
        return None
    book = rule_facts.rulebook.in_force(run.project_id)
    found = book.judge("starting_loss", Situation(config=config, first_loss=first))
    return next((one for one in found if one.evidence.get("rule") == _FIRST), None)
