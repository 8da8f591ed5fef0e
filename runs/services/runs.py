"""What a person asks of a run. Each act sets what is desired; reconciliation brings it about."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict
from controlplane.common.models import User
from controlplane.common.queue import wake
from runs import states
from runs.models import Attempt, Command, Run
from runs.services import (
    approvals,
    attempts,
    base_lines,
    bases,
    changes,
    commands,
    events,
    resume_points,
)
from runs.services.new_runs import Checkpoint, checked_checkpoint, create_run

__all__ = [
    "create_run",
    "request_launch",
    "request_pause",
    "request_resume",
    "request_save",
    "request_stop",
    "settle",
]


@transaction.atomic
def request_launch(
    *, run: Run, user: User, reason: str = "", weights_from: int | None = None
) -> Attempt:
    """Ask for the first attempt; pressed twice it is still one, and the same is returned.

    Args:
        run: One that was never launched.
        user: Needs the role operator.
        reason: Why more than one variable changes, where nobody said so yet.
        weights_from: A checkpoint whose weights it begins with; default: the base that its card names, if any.

    Raises:
        Conflict: The run has ended before (resume it instead), or its production config is not approved, or not with
            this base, or the base is not proved whole.
        Forbidden: The person approved the config: another one starts it.
        Invalid: Its card lacks an agreement, or more than one variable changes without a reason.
    """
    held = _held(run, user, "run.launch")
    newest = held.attempts.first()
    if newest is not None and newest.is_over:
        raise Conflict(
            _("Run %(run)s was launched before; resume it, or fork it.") % {"run": held.pk}
        )
    if newest is not None:
        return newest
    approvals.require_approved(config=held.config, user=user)
    start = bases.start_of(run=held, asked=weights_from)
    changes.begins_with(run=held, base=base_lines.of_start(start))
    changes.give_reason(run=held, user=user, reason=reason)
    changes.require_reason(run=held)
    attempt = attempts.create_attempt(run=held, checkpoint=start)
    told = {"start": start} if start else {}
    _desire(held, states.Desired.RUNNING, user, "launch", f"{user} launched the run.", **told)
    _copy(held, run)
    return attempt


@transaction.atomic
def request_stop(*, run: Run, user: User, reason: str = "", force: bool = False) -> None:
    """Ask for save, then stop; with `force` for an end at once. Asking again changes nothing.

    Raises:
        Conflict: The run was never launched.
    """
    held = _held(run, user, "run.force_stop" if force else "run.stop")
    newest = held.attempts.first()
    if newest is None:
        raise Conflict(
            _("Run %(run)s was never launched; there is nothing to stop.") % {"run": held.pk}
        )
    is_known = held.desired == states.Desired.STOPPED and held.is_forced >= force
    if is_known or (newest.is_over and not _goes_on(held, newest)):
        return
    held.is_forced = force
    act = "force_stop" if force else "stop"
    words = "ended the run by force" if force else "asked to save and stop"
    told = f"{user} {words}{': ' + reason if reason else '.'}"
    _desire(held, states.Desired.STOPPED, user, act, told, reason=reason)
    _copy(held, run)


@transaction.atomic
def request_pause(*, run: Run, user: User, reason: str = "") -> None:
    """Ask for save, then hold; asking again changes nothing.

    Raises:
        Conflict: No attempt is open, or it is being stopped.
    """
    held = _held(run, user, "run.pause")
    attempt = _open_attempt(held)
    if attempt is None:
        raise Conflict(
            _("Run %(run)s is not running; there is nothing to pause.") % {"run": held.pk}
        )
    if held.desired == states.Desired.STOPPED or attempt.state == states.State.STOPPING:
        raise Conflict(
            _("Run %(run)s is being stopped; it can be resumed afterwards.") % {"run": held.pk}
        )
    if held.desired != states.Desired.PAUSED:
        told = f"{user} paused the run{': ' + reason if reason else '.'}"
        _desire(held, states.Desired.PAUSED, user, "pause", told, reason=reason)
    _copy(held, run)


@transaction.atomic
def request_resume(*, run: Run, user: User, from_checkpoint: Checkpoint | None = None) -> Attempt:
    """Ask to go on: by a command while the devices are held, else by a new attempt.

    Args:
        run: Any run that was launched and has not finished.
        user: Needs the role operator.
        from_checkpoint: {"id", "path", "run", "step"}; default: the newest one that the registry offers.

    Returns:
        The attempt that goes on, or that a next one follows as soon as it has stopped.

    Raises:
        Conflict: It finished, was never launched, or another checkpoint is asked for while an attempt is open.
    """
    held = _held(run, user, "run.resume")
    newest = held.attempts.first()
    if newest is None:
        raise Conflict(_("Run %(run)s was never launched; launch it.") % {"run": held.pk})
    if newest.is_over:
        attempt = _next_attempt(held, newest, user, from_checkpoint)
    else:
        attempt = _go_on(held, newest, user, from_checkpoint)
    _copy(held, run)
    return attempt


@transaction.atomic
def request_save(*, run: Run, user: User) -> Command:
    """Ask the trainer for a checkpoint now.

    Raises:
        Conflict: No trainer is there.
    """
    held = _held(run, user, "attempt.save")
    attempt = _open_attempt(held)
    if attempt is None or attempt.state != states.State.RUNNING:
        raise Conflict(
            _("Run %(run)s is not training; there is nothing to save.") % {"run": held.pk}
        )
    return commands.send(attempt=attempt, kind=Command.Kind.SAVE, user=user)


@transaction.atomic
def settle(*, run: Run) -> bool:
    """Take the run off reconciliation's list once nothing is open; return whether it was taken off."""
    held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if _open_attempt(held) is not None:
        return False
    held.needs_reconcile = run.needs_reconcile = False
    held.save(update_fields=["needs_reconcile"])
    return True


def _held(run: Run, user: User, act: str) -> Run:
    """Return the row, locked: acts on one run queue behind each other. Rows are locked run, then attempt."""
    access.require(user, run.project_id, act)
    held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if held.archived_at is not None and act in {"run.launch", "run.resume"}:
        raise Conflict(
            _("Run %(run)s is in the archive.") % {"run": held.pk}, hint=_("Bring it back first.")
        )
    return held


def _goes_on(run: Run, ended: Attempt) -> bool:
    """Whether a run whose attempt has ended is held to go on: paused, or its next attempt is due any moment."""
    return run.desired == states.Desired.PAUSED or states.is_next_due(
        desired=states.Desired(run.desired),
        desired_at=run.desired_at,
        stopped_at=ended.stop_sent_at,
        outcome=states.Outcome(ended.outcome),
    )


def _open_attempt(run: Run) -> Attempt | None:
    return run.attempts.exclude(state=states.State.ENDED).first()


def _next_attempt(
    run: Run, newest: Attempt, user: User, from_checkpoint: Checkpoint | None
) -> Attempt:
    if newest.outcome == states.Outcome.FINISHED:
        raise Conflict(
            _("Run %(run)s has finished.") % {"run": run.pk}, hint=_("Fork it to train further.")
        )
    approvals.require_approved(config=run.config, user=user)
    start = checked_checkpoint(from_checkpoint) or resume_points.newest(run) or run.start_checkpoint
    run.is_forced = False
    attempt = attempts.create_attempt(run=run, checkpoint=start)
    _desire(run, states.Desired.RUNNING, user, "resume", f"{user} resumed the run.", start=start)
    return attempt


def _go_on(run: Run, attempt: Attempt, user: User, from_checkpoint: Checkpoint | None) -> Attempt:
    """Change the wish alone. While it is being stopped the stop goes on, and the next attempt follows it."""
    if from_checkpoint:
        raise Conflict(
            _("Attempt %(attempt)s is still open; another checkpoint needs a new attempt.")
            % {"attempt": attempt},
            hint=_("Stop the run first, then resume it from the checkpoint."),
        )
    if run.desired != states.Desired.RUNNING:
        _desire(run, states.Desired.RUNNING, user, "resume", f"{user} resumed the run.")
    return attempt


def _desire(
    run: Run, desired: states.Desired, user: User, act: str, message: str, **data: Any
) -> None:
    run.desired, run.desired_at = desired, timezone.now()
    run.needs_reconcile, run.resume_on_up = True, False
    run.save(
        update_fields=["desired", "desired_at", "needs_reconcile", "resume_on_up", "is_forced"]
    )
    audit.record(actor=user, action=f"run.{act}", object=run, data=data)
    events.record(run=run, kind=act, message=message, user=user, data=data)
    wake("workers.reconcile", run_id=run.pk)


def _copy(held: Run, run: Run) -> None:
    for name in (
        "desired",
        "desired_at",
        "needs_reconcile",
        "resume_on_up",
        "is_forced",
        "start_checkpoint",
    ):
        setattr(run, name, getattr(held, name))
