"""Seeing to runs: one when somebody woke us, all of them every few seconds."""

import logging
import time

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections

from controlplane.common.queue import wake
from runs.models import Run
from workers import orphans
from workers.passes import reconcile_run

logger = logging.getLogger(__name__)
BATCH = 200
# A start waits for its wrapper, a kill for its end; both give up long before.
_TIME_LIMIT_SECONDS = 180


@shared_task(name="workers.reconcile", acks_late=True, time_limit=_TIME_LIMIT_SECONDS)
def reconcile(*, run_id: int) -> None:
    """See to one run; safe to repeat, to come late, and to run beside itself."""
    reconcile_run(run_id)


@shared_task(name="workers.sweep", acks_late=True, time_limit=_TIME_LIMIT_SECONDS)
def sweep(*, after_id: int = 0) -> None:
    """See to every run that is open or due: what messages that were lost would have brought about.

    It goes through them in order; what does not fit into one period is left to a task that follows.
    """
    due = Run.objects.filter(needs_reconcile=True, pk__gt=after_id).order_by("pk")
    run_ids = list(due.values_list("pk", flat=True)[:BATCH])
    deadline = time.monotonic() + settings.SAFEHOLD_SWEEP_SECONDS
    for run_id in run_ids:
        _see_to(run_id)
        if time.monotonic() > deadline and run_id != run_ids[-1]:
            wake("workers.sweep", after_id=run_id)
            return
    if len(run_ids) == BATCH:
        wake("workers.sweep", after_id=run_ids[-1])
    else:
        orphans.end_orphans()
        orphans.clean_up()


def _see_to(run_id: int) -> None:
    try:
        reconcile_run(run_id)
    except Exception:
        # The trouble could not even be recorded; the others still deserve their turn, by a connection that works.
        logger.exception("reconcile.not_recorded", extra={"run_id": run_id})
        close_old_connections()
