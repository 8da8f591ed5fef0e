"""The timeline of a run: one line for each thing that happened."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.common.models import User
from runs import live
from runs.models import Attempt, Event, Run


@transaction.atomic
def record(
    *,
    run: Run,
    kind: str,
    message: str,
    attempt: Attempt | None = None,
    data: Mapping[str, Any] | None = None,
    at: datetime | None = None,
    user: User | None = None,
    key: str | None = None,
) -> Event | None:
    """Add a line and tell the open pages.

    Args:
        run: The run that it belongs to.
        kind: Slug of the kind, by which the timeline is filtered.
        message: One sentence for a person.
        attempt: The attempt it concerns, if one.
        data: Facts behind the sentence, plain JSON values.
        at: When it happened; default now.
        user: The person who did it, if one.
        key: Name of something that may be told twice; the second telling adds nothing.

    Returns:
        The line, or None where `key` was known.
    """
    event = Event(
        run=run, attempt=attempt, at=at or timezone.now(), kind=kind, message=message,
        data=dict(data or {}), user=user, key=key,
    )  # fmt: skip
    if key is None:
        event.save(force_insert=True)
    elif not _insert_once(event):
        return None
    shown = {"id": event.pk, "event": kind, "message": message, "at": event.at.isoformat()}
    transaction.on_commit(partial(live.publish, run.pk, "event", shown))
    return event


def _insert_once(event: Event) -> bool:
    try:
        with transaction.atomic():
            event.save(force_insert=True)
    except (
        IntegrityError
    ):  # the key is known; foreign keys are checked at the end of the transaction
        return False
    return True
