"""Training on this machine when the service goes down and comes up: save, stop, go on."""

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.db.models import QuerySet

from controlplane.common.errors import SafeholdError
from controlplane.common.models import User
from controlplane.service import accounts
from runs import states
from runs.models import Attempt, Run
from runs.services import runs

logger = logging.getLogger(__name__)
# On top of a trainer's grace: its end must still be seen and recorded.
STOP_MARGIN_SECONDS = 15


def pause_all(*, meanwhile: Callable[[], None], say: Callable[[str], None]) -> None:
    """Save and stop local training before the service goes down, and wait for it, but not for ever.

    Args:
        meanwhile: Called between two looks; keeps the children of the service alive.
        say: Tells the person at the terminal.
    """
    try:
        asked = save_and_stop(user=accounts.admin())
        if not asked:
            return
        say(f"  saving and stopping {_named(asked)}; Ctrl-C again to leave training running")
        timeout = settings.SAFEHOLD_STOP_GRACE_SECONDS + STOP_MARGIN_SECONDS
        left = wait_until_stopped(asked, timeout, meanwhile)
        say(f"  {_named(left)} still running; training goes on by itself." if left else "  saved.")
    except DatabaseError as error:
        logger.warning("training.not_paused", extra={"error": str(error)})
        say("  the database does not answer; training that still runs goes on by itself.")


def save_and_stop(*, user: User) -> list[int]:
    """Ask every local run with an open attempt to save and stop; return their ids.

    A run that was to run is marked, so that the next `up` resumes it; a paused one stays stopped.
    """
    asked = []
    for run in Run.objects.filter(pk__in=_open().values("run_id")):
        was_running = run.desired == states.Desired.RUNNING
        try:
            runs.request_stop(run=run, user=user, reason="the service on this machine goes down")
        except SafeholdError as error:
            logger.warning("run.not_stopped", extra={"run_id": run.pk, "error": error.message})
            continue
        Run.objects.filter(pk=run.pk).update(resume_on_up=was_running)
        asked.append(run.pk)
    return asked


def wait_until_stopped(
    run_ids: list[int], timeout_seconds: float, meanwhile: Callable[[], None]
) -> list[int]:
    """Wait until none of the runs has an open attempt; return the ids of those that still have.

    Args:
        run_ids: From `save_and_stop`.
        timeout_seconds: How long at most.
        meanwhile: Called between two looks; keeps the children of the service alive.
    """
    deadline = time.monotonic() + timeout_seconds
    while left := sorted(_open().filter(run_id__in=run_ids).values_list("run_id", flat=True)):
        if time.monotonic() > deadline:
            return left
        meanwhile()
    return []


def resume(*, user: User) -> list[int]:
    """Resume what the last stop of the service interrupted; return the ids."""
    resumed = []
    for run in Run.objects.filter(launcher="local", resume_on_up=True):
        try:
            runs.request_resume(run=run, user=user)
        except SafeholdError as error:
            logger.warning("run.not_resumed", extra={"run_id": run.pk, "error": error.message})
            continue
        resumed.append(run.pk)
    return resumed


def _named(run_ids: list[int]) -> str:
    return f"run{'s' if len(run_ids) > 1 else ''} {', '.join(map(str, run_ids))}"


def _open() -> QuerySet[Attempt]:
    open_attempts = Attempt.objects.filter(launcher="local")
    return open_attempts.exclude(state=states.State.ENDED)
