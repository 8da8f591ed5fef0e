"""Moving metric points from batches into chunks."""

from celery import shared_task

from controlplane.common.queue import wake
from runs.services import compaction, metrics


@shared_task(name="workers.compact", time_limit=600)
def compact(*, attempt_id: int) -> None:
    """Compact the tail of one attempt; safe to repeat and to run twice at once."""
    metrics.compact_attempt(attempt_id)


@shared_task(name="workers.compact_idle", time_limit=600)
def compact_idle() -> None:
    """Ask for the compaction of tails that were left behind."""
    for attempt_id in compaction.idle_attempts():
        wake("workers.compact", attempt_id=attempt_id)
