"""A worker tells that it lives; readiness asks when it last did."""

import logging
import time
from typing import Any

import redis
from celery.signals import heartbeat_sent
from django.core.cache import cache

logger = logging.getLogger(__name__)
KEY = "worker-seen-at"
# Long enough for a person to read how long it has been away.
KEPT_SECONDS = 24 * 3600


@heartbeat_sent.connect  # every two seconds, in the worker's main process
def record_worker(sender: Any = None, **kwargs: Any) -> None:
    """Note the time; a Redis that is away is the broker's trouble, and told there.

    A verifier launches and sweeps nothing, so it does not stand for the worker.
    """
    if str(getattr(getattr(sender, "eventer", None), "hostname", "")).startswith("verifier@"):
        return
    try:
        cache.set(KEY, time.time(), KEPT_SECONDS)
    except redis.RedisError as error:
        logger.warning("worker.presence_not_noted", extra={"error": str(error)})


def seconds_since_worker() -> float | None:
    """Return how long ago a worker was last seen, or None when none ever was.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    seen_at = cache.get(KEY)
    return None if seen_at is None else max(0.0, time.time() - seen_at)
