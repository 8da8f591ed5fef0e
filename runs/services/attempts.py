"""The life of an attempt: its request, its guarded moves, its end."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.errors import Conflict
from controlplane.common.queue import wake
from runs import live, starts, states
from runs.models import Attempt, Run, StateChange
from runs.services import (
    agreements,
    approvals,
    attempt_tokens,
    base_approval,
    bases,
    commands,
    events,
    exits,
    launch_gate,
    launcher_choice,
    resume_points,
)
from runs.services.attempt_tokens import issue_token, revoke_token, token_of
from runs.services.ends import end_time

__all__ = [
    "ForbiddenMove",
    "StaleState",
    "create_attempt",
    "end_attempt",
    "issue_token",
    "move_attempt",
    "record_exit",
    "record_handle",
    "revoke_token",
    "token_of",
]


# What a state means where the one who moves it has nothing to add.
_WORDS = {
    states.State.SUBMITTING: "A worker has taken it up.",
    states.State.WAITING: "It waits for devices.",
    states.State.STARTING: "Its processes are being started.",
}


class ForbiddenMove(Conflict):
    """`runs.states` has no such move."""

    code = "forbidden-move"


class StaleState(Conflict):
    """Another worker moved the attempt first; load it again and decide anew."""

    code = "stale-state"


@transaction.atomic
def create_attempt(
    *, run: Run, checkpoint: Mapping[str, Any] | None = None, reason: str = ""
) -> Attempt:
    """Request the next attempt of a run; the database allows one open attempt a run.

    Args:
        run: Locked by the caller, who has seen that no attempt is open; its production config must be approved, the
            agreements of its card filled in, its preflight green or waived.
        checkpoint: Facts of the one to begin from, see `resume_points`; without any, a first attempt begins with the
            weights of the card's base, or with nothing.
        reason: Why, as a sentence for the page.
    """
    # The one gate: a second person's approval, what the card agreed on, then preflight, the approved base. A later attempt trains the
    # document that passed.
    approvals.require_approved(config=run.config)
    launcher_choice.hold(run.launcher)
    before = run.attempts.order_by("-number").values_list("number", flat=True).first()
    if before is None:
        goes_on = starts.takes(checkpoint) == starts.STATE
        base = None if goes_on else starts.base_of(checkpoint)
        agreements.require(card=run.card, config=run.config, base=base)
        launch_gate.require(run=run)
        checkpoint = checkpoint or bases.start_of(run=run)
    base_approval.require_start(config=run.config, start=checkpoint)
    number, now, salt = (before or 0) + 1, timezone.now(), attempt_tokens.fresh_salt()
    start = resume_points.cleaned(checkpoint)
    if before is None:
        bases.keep(run=run, start=start)
    token = attempt_tokens.derive(run_id=run.pk, number=number, salt=salt)
    attempt = Attempt.objects.create(
        run=run, number=number, launcher=run.launcher, reason=reason, requested_at=now, state_at=now,
        start_checkpoint=start, start_step=starts.first_step(start), token_salt=salt,
        token_hash=tokens.hash_token(token),
    )  # fmt: skip
    resume_points.record_start(attempt)
    _keep_change(attempt, old="", reason=reason)
    events.record(
        run=run, attempt=attempt, kind="attempt_requested",
        message=f"Attempt {number} was requested; it begins {starts.begins(start)}.", data={"checkpoint": start},
    )  # fmt: skip
    return attempt


@transaction.atomic
def move_attempt(
    *, attempt: Attempt, to: Attempt.State | states.State | str, reason: str = "", **changes: Any
) -> None:
    """Change the state once, keep the change, tell the open pages.

    Args:
        attempt: As the caller read it; its state is what the move starts from.
        to: Any state but `ended`, which `end_attempt` sets.
        reason: Shown as the "why" of the state.
        changes: Further columns to set in the same update.

    Raises:
        ForbiddenMove: `runs.states` has no such move.
        StaleState: Another worker moved the attempt first.
    """
    target = states.State(to)
    if target is states.State.ENDED:
        raise ForbiddenMove(f"Attempt {attempt} ends through end_attempt, with an outcome.")
    changes = _times_of(attempt, target, timezone.now()) | changes
    old = _set_state(attempt, target, reason, changes)
    events.record(
        run=attempt.run, attempt=attempt, kind="state", message=reason or _WORDS.get(target, f"It is {target}."),
        data={"old": old, "new": str(target)},
    )  # fmt: skip


@transaction.atomic
def end_attempt(
    *,
    attempt: Attempt,
    outcome: Attempt.Outcome | states.Outcome | str,
    reason: str,
    exit: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> bool:
    """End an attempt; a second end changes nothing.

    The end also fences it: registration and commands are refused from then on, metrics are still stored
    for a day. `at` defaults to the end in `exit`, else to the last sign of life, else to now.

    Returns:
        Whether this call ended it.
    """
    current = Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    attempt.state, attempt.outcome, attempt.ended_at = (
        current.state,
        current.outcome,
        current.ended_at,
    )
    if current.is_over:
        return False
    ended_at = end_time(current, exit, at)
    changes = {"outcome": str(states.Outcome(outcome)), "ended_at": ended_at}
    if exit is not None:
        changes["exit"] = dict(exit)
    commands.drop_pending(attempt=current, reason="The attempt ended.")
    old = _set_state(attempt, states.State.ENDED, reason, changes)
    events.record(
        run=attempt.run, attempt=attempt, kind="state", message=reason,
        data={"old": old, "new": "ended", "outcome": attempt.outcome},
    )  # fmt: skip
    wake("workers.reconcile", run_id=attempt.run_id)
    wake("workers.compact", attempt_id=attempt.pk)
    return True


@transaction.atomic
def record_handle(*, attempt: Attempt, handle: Mapping[str, Any], where: str = "") -> None:
    """Keep what the launcher needs to find the workload again, and where it runs."""
    attempt.handle, attempt.where = dict(handle), where[:200]
    attempt.save(update_fields=["handle", "where"])


@transaction.atomic
def record_exit(*, attempt: Attempt, exit: Mapping[str, Any], node: int = 0) -> None:
    """Keep a wrapper's own word about the end and have it looked at; it is a hint, not the end.

    Args:
        attempt: Whose wrapper it is; one that has ended keeps what it ended with.
        exit: The record of this node.
        node: Which node speaks; what the others said is kept beside it.
    """
    held = Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    if held.is_over:
        return
    held.exit = exits.merged(held.exit, dict(exit), node=node)
    held.save(update_fields=["exit"])
    attempt.exit = held.exit
    wake("workers.reconcile", run_id=attempt.run_id)


def _set_state(attempt: Attempt, to: states.State, reason: str, changes: Mapping[str, Any]) -> str:
    old = states.State(attempt.state)
    if to not in states.MOVES[old]:
        raise ForbiddenMove(f"Attempt {attempt} cannot go from {old} to {to}.")
    values = {"state": str(to), "state_at": timezone.now(), "reason": reason} | dict(changes)
    if not Attempt.objects.filter(pk=attempt.pk, state=old).update(**values):
        raise StaleState(f"Attempt {attempt} is no longer {old}.")
    for name, value in values.items():
        setattr(attempt, name, value)
    _keep_change(attempt, old=str(old), reason=reason)
    return str(old)


def _keep_change(attempt: Attempt, *, old: str, reason: str) -> None:
    at = attempt.state_at
    StateChange.objects.create(attempt=attempt, old=old, new=attempt.state, reason=reason, at=at)
    told = {
        "attempt": attempt.number, "state": attempt.state, "outcome": attempt.outcome,
        "reason": reason, "at": at.isoformat(),
    }  # fmt: skip
    run = attempt.run
    transaction.on_commit(partial(live.publish, run.pk, "state", told))
    row = {"state": attempt.state, "outcome": attempt.outcome}
    transaction.on_commit(partial(live.publish_row, run.project_id, run.pk, row))


def _times_of(attempt: Attempt, to: states.State, now: datetime) -> dict[str, Any]:
    times: dict[str, Any] = {}
    if to is states.State.SUBMITTING:
        times["submitted_at"] = now
    if to in {states.State.STARTING, states.State.RUNNING} and attempt.started_at is None:
        times["started_at"] = now
    if to is states.State.PAUSED:
        times["paused_at"] = now
    elif attempt.state == states.State.PAUSED:
        times["paused_at"] = None
    return times
