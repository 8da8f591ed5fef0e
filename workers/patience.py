"""How often a run is tried again that fails, or that kills who tries it."""

import logging
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from controlplane.common.errors import SafeholdError
from runs.models import Run
from runs.services import events
from workers.launchers.base import LauncherError
from workers.models import Watch

logger = logging.getLogger(__name__)
_FIRST_WAIT = timedelta(seconds=5)
_LONGEST_WAIT = timedelta(minutes=5)
# A launcher out of reach is no fault of the run; its return should not wait for us.
_LONGEST_LAUNCHER_WAIT = timedelta(seconds=10)
# After a worker died: one death may be anybody's, the fifth is the run's.
_AFTER_DEATHS = (timedelta(), _FIRST_WAIT, timedelta(seconds=30), timedelta(minutes=5))
_AFTER_MORE_DEATHS = timedelta(hours=1)
_LAUNCH_WAITS = (2, 5, 10, 20, 30)


def is_due(run: Run, watch: Watch | None, now: datetime) -> bool:
    """Whether to try now: no wait is running, or a person asked for something since it began."""
    if watch is None or watch.retry_at is None or now >= watch.retry_at:
        return True
    return bool(run.desired_at and watch.failed_at and run.desired_at > watch.failed_at)


def note_predecessor(run: Run, watch: Watch | None, now: datetime) -> bool:
    """Count the death of one that began and never came back; return whether to go on now."""
    if watch is None or watch.begun_at is None:
        return True
    deaths = watch.num_deaths + 1
    wait = _AFTER_DEATHS[deaths - 1] if deaths <= len(_AFTER_DEATHS) else _AFTER_MORE_DEATHS
    Watch.objects.filter(pk=run.pk).update(
        begun_at=None, num_deaths=deaths, failed_at=now, retry_at=now + wait
    )
    logger.warning("reconcile.predecessor_died", extra={"run_id": run.pk, "deaths": deaths})
    if deaths >= len(_AFTER_DEATHS):
        _tell_poison(run, watch, deaths, wait)
    return not wait


def _tell_poison(run: Run, watch: Watch, deaths: int, wait: timedelta) -> None:
    events.record(
        run=run, kind="reconcile_poison", key=f"reconcile-died:{run.pk}:{watch.begun_at}",
        message=f"Workers died {deaths} times while they saw to this run; the next try is in"
        f" {_words(wait)}, or when somebody asks for something.",
    )  # fmt: skip


def begin(run: Run) -> None:
    """Note that actions are about to be carried out."""
    now = timezone.now()
    Watch.objects.update_or_create(run=run, defaults={"begun_at": now})


def finish(run: Run) -> None:
    """Note that they were carried out: earlier trouble is over."""
    Watch.objects.filter(pk=run.pk).update(
        begun_at=None, num_deaths=0, num_failures=0, retry_at=None, failed_at=None, error=""
    )


def record_failure(run: Run, error: Exception) -> None:
    """Note what went wrong, tell it on the timeline once in a while, and wait longer each time."""
    watch, _ = Watch.objects.get_or_create(run=run)
    failures, now = watch.num_failures + 1, timezone.now()
    longest = _LONGEST_LAUNCHER_WAIT if isinstance(error, LauncherError) else _LONGEST_WAIT
    wait = min(_FIRST_WAIT * 2 ** min(failures - 1, 10), longest)
    text = str(error) if isinstance(error, SafeholdError) else f"{type(error).__name__}: {error}"
    Watch.objects.filter(pk=run.pk).update(
        begun_at=None, num_failures=failures, failed_at=now, retry_at=now + wait, error=text
    )
    if failures & (failures - 1) == 0:
        events.record(
            run=run, kind="reconcile_failed", data={"failures": failures},
            message=f"Seeing to this run failed; it is tried again in {_words(wait)}. {text}",
        )  # fmt: skip


def record_launch_trouble(run: Run, number: int, error: LauncherError) -> None:
    """Note why an attempt could not be started, and when to try again."""
    watch, _ = Watch.objects.get_or_create(run=run)
    tries = watch.num_launches + 1 if watch.launch_attempt == number else 1
    wait = _LAUNCH_WAITS[min(tries, len(_LAUNCH_WAITS)) - 1]
    Watch.objects.filter(pk=run.pk).update(
        launch_attempt=number,
        num_launches=tries,
        launch_error=f"{error.message} {error.hint}".strip(),
        launch_retry_at=timezone.now() + timedelta(seconds=wait),
        is_launch_final=not error.can_retry,
    )


def forget_launch_trouble(run: Run) -> None:
    """Take note that the launcher did it."""
    known = Watch.objects.filter(pk=run.pk).exclude(launch_error="")
    known.update(launch_error="", launch_retry_at=None, num_launches=F("num_launches") + 1)


def _words(wait: timedelta) -> str:
    seconds = int(wait.total_seconds())
    return f"{seconds} seconds" if seconds < 120 else f"{seconds // 60} minutes"
