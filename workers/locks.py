"""One holder at a time, by the database: the lock falls with the connection of whoever dies."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection

logger = logging.getLogger(__name__)
# The upper half keeps these keys apart from other advisory locks of the service.
_RUNS = 0x5AFE_0001 << 32


@contextmanager
def run_lock(run_id: int) -> Iterator[bool]:
    """Yield whether this is the only pass over the run; never waits for another one."""
    key = _RUNS + run_id
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        is_held = bool(cursor.fetchone()[0])
    try:
        yield is_held
    finally:
        if is_held:
            _release(key)


def _release(key: int) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
    except Error as error:
        # The connection is gone or broken, and the lock goes with it.
        logger.warning("lock.released_with_connection", extra={"error": str(error)})
        connection.close()
