"""Asking a worker for something now and waiting for the answer: only workers reach clusters.

The question is a Celery task, the answer comes through Redis under a name of its own. Nothing depends on it being
heard: who gets no answer says so.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from controlplane.common.errors import SafeholdError

# A cluster that does not answer costs the worker its connect and read time-outs.
PATIENCE_SECONDS = 25.0
_LOOK_EVERY_SECONDS = 0.05
_KEPT_SECONDS = 60


class NoAnswer(SafeholdError):
    """No worker answered in time, or there is no broker to ask through."""

    code = "no-answer"
    http_status = 503


def ask(
    task_name: str, *, patience_seconds: float = PATIENCE_SECONDS, **ids: Any
) -> dict[str, Any]:
    """Send a task that answers through `answer`, and return the answer.

    Args:
        task_name: Of a task that takes `answer_to` beside the ids.
        patience_seconds: How long to wait.
        ids: Of committed rows, and plain values.

    Raises:
        NoAnswer: Nobody answered in time.
    """
    name = f"answer:{secrets.token_hex(16)}"
    _send(task_name, {**ids, "answer_to": name}, patience_seconds)
    deadline = time.monotonic() + patience_seconds
    while time.monotonic() < deadline:
        found: dict[str, Any] | None = cache.get(name)
        if found is not None:
            cache.delete(name)
            return found
        time.sleep(_LOOK_EVERY_SECONDS)
    raise NoAnswer(
        _("No worker answered within %(seconds)s s.") % {"seconds": f"{patience_seconds:g}"},
        hint=_("Is a worker running? Try again, or look into its log."),
    )


def answer(name: str, content: Mapping[str, Any]) -> None:
    """Leave the answer to a question; without a name nobody waits for it."""
    if name:
        cache.set(name, dict(content), timeout=_KEPT_SECONDS)


def _send(task_name: str, arguments: dict[str, Any], expires_seconds: float) -> None:
    try:
        current_app.send_task(task_name, kwargs=arguments, retry=False, expires=expires_seconds)
    except (OperationalError, ConnectionError, TimeoutError) as error:
        raise NoAnswer(
            _("No worker can be asked: %(error)s.") % {"error": error},
            hint=_("Redis does not answer."),
        ) from error
