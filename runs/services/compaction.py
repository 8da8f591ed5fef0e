"""When batches become chunks: soon after a tail has grown long, so that a chart never reads a long one."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Min, Q
from django.utils import timezone

from controlplane.common.queue import wake
from runs import states
from runs.models import MetricBatch
from safehold.wire import Batch

logger = logging.getLogger(__name__)

# A chart decodes each batch of the tail: so many cost it a few milliseconds at most.
TAIL_BATCHES = 64
TAIL_POINTS = 200_000
# Two requests for the same attempt lie at least so far apart, over all processes.
DEBOUNCE_SECONDS = 5
# A tail that never grew long is compacted after this time, or at once when its attempt has ended.
IDLE_AFTER = timedelta(minutes=10)

_lock = threading.Lock()
_tails: dict[int, tuple[int, int, float]] = {}  # batches, points, when last asked
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compaction")


def noticed(attempt_id: int, batch: Batch) -> None:
    """Count a stored batch; ask for compaction once the tail that this process knows is long."""
    with _lock:
        batches, points, asked_at = _tails.get(attempt_id, (0, 0, 0.0))
        batches, points = batches + 1, points + batch.num_points
        is_due = batches >= TAIL_BATCHES or points >= TAIL_POINTS
        is_due &= time.monotonic() - asked_at >= DEBOUNCE_SECONDS
        if len(_tails) > 10_000:
            _tails.clear()
        _tails[attempt_id] = (0, 0, time.monotonic()) if is_due else (batches, points, asked_at)
    if is_due:
        # In a thread: a broker that hangs must not hold up the sender of metrics.
        _sender.submit(_ask, attempt_id)


def idle_attempts(limit: int = 200) -> list[int]:
    """Return attempts whose tail should be compacted although nobody asked: a lost message, a quiet run."""
    before = timezone.now() - IDLE_AFTER
    rows = MetricBatch.objects.values("attempt_id").annotate(
        num=Count("pk"), oldest=Min("received_at")
    )
    due = Q(num__gte=TAIL_BATCHES) | Q(oldest__lt=before) | Q(attempt__state=states.State.ENDED)
    return list(rows.filter(due).order_by("-num").values_list("attempt_id", flat=True)[:limit])


def _ask(attempt_id: int) -> None:
    try:
        if cache.add(f"compact:{attempt_id}", 1, timeout=DEBOUNCE_SECONDS):
            wake("workers.compact", attempt_id=attempt_id)
    except Exception as error:  # noqa: BLE001  (edge of a thread; the periodic task finds the tail)
        logger.warning(
            "compaction.not_asked", extra={"attempt_id": attempt_id, "error": str(error)}
        )
    finally:
        connection.close()  # asking whether a transaction is open opened one for this thread
