"""Calling a worker by name: a hint that makes the sweep's work happen sooner, never the only copy."""

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def wake(task_name: str, **ids: Any) -> None:
    """Send the task once the current transaction has committed.

    A broker that is down or slow costs at most the socket time-outs of the settings; the periodic
    sweep finds the row without the message.
    """
    transaction.on_commit(partial(_send, task_name, ids), robust=True)


def _send(task_name: str, ids: dict[str, Any]) -> None:
    try:
        current_app.send_task(task_name, kwargs=ids, retry=False)
    except (OperationalError, ConnectionError, TimeoutError) as error:
        logger.warning("task.not_sent", extra={"task": task_name, "ids": ids, "error": str(error)})
