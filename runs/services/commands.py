"""Commands to the trainer: kept here, carried by acknowledgements until the trainer reports them."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import audit
from controlplane.common.errors import Conflict
from controlplane.common.models import User
from controlplane.common.queue import wake
from runs import states
from runs.models import Attempt, Command
from runs.services import events
from safehold.wire import Applied

logger = logging.getLogger(__name__)


@transaction.atomic
def send(
    *,
    attempt: Attempt,
    kind: str,
    user: User | None = None,
    args: Mapping[str, Any] | None = None,
) -> Command:
    """Ask the trainer for something; the same wish twice while one is pending is one command.

    Raises:
        Conflict: The attempt has ended, so nobody is there to do it.
    """
    held = Attempt.objects.select_for_update(no_key=True).get(pk=attempt.pk)
    if held.is_over:
        raise Conflict(_("Attempt %(attempt)s has ended; it takes no command.") % {"attempt": held})
    waiting = held.commands.filter(kind=kind, done_at__isnull=True).first()
    if waiting is not None:
        return waiting
    command = Command.objects.create(attempt=held, kind=kind, user=user, args=dict(args or {}))
    if user is not None:
        audit.record(
            actor=user, action=f"attempt.{kind}", object=held, project_id=held.run.project_id
        )
    events.record(
        run=held.run, attempt=held, kind="command", user=user,
        message=f"Asked the trainer to {_words(kind)}.", data={"command": command.pk, "kind": kind},
    )  # fmt: skip
    return command


def pending(attempt: Attempt) -> list[Command]:
    """Return what the trainer has not reported yet, oldest first."""
    return list(Command.objects.filter(attempt=attempt, done_at__isnull=True).order_by("pk"))


@transaction.atomic
def record_applied(*, attempt: Attempt, applied: Iterable[Applied]) -> int:
    """Note what became of commands; a report that comes again changes nothing.

    Returns:
        How many were newly done.
    """
    done = 0
    for report in applied:
        command = _pending_one(attempt, report.id)
        if command is None:
            continue
        command.done_at, command.result = timezone.now(), report.outcome
        command.message = report.message[:2000]
        command.save(update_fields=["done_at", "result", "message"])
        done += 1
        events.record(
            run=attempt.run, attempt=attempt, kind="command", message=_told(command),
            data={"command": command.pk, "kind": command.kind, "result": command.result},
        )  # fmt: skip
    if done:
        wake("workers.reconcile", run_id=attempt.run_id)
    return done


def drop_pending(*, attempt: Attempt, reason: str) -> None:
    """Close the commands of an attempt that will never report them."""
    Command.objects.filter(attempt=attempt, done_at__isnull=True).update(
        done_at=timezone.now(), result="refused", message=reason
    )


def can_take(attempt: Attempt) -> bool:
    """Say whether a trainer is, or may be, there to take a command."""
    return states.State(attempt.state) in states.LIVE_STATES


def _pending_one(attempt: Attempt, number: int | str) -> Command | None:
    if not isinstance(number, int) or not 0 < number < 2**63:
        logger.warning("command.unknown", extra={"attempt_id": attempt.pk, "command": str(number)})
        return None
    held = Command.objects.select_for_update().filter(attempt=attempt, pk=number)
    return held.filter(done_at__isnull=True).first()


def _told(command: Command) -> str:
    if command.result == "applied":
        return f"The trainer did: {_words(command.kind)}."
    reason = command.message or "it gave no reason"
    return f"The trainer refused to {_words(command.kind)}: {reason}"


def _words(kind: str) -> str:
    return {"save_and_stop": "save, then stop"}.get(kind, kind)
