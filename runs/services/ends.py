"""When an attempt ended: told by its wrapper, else its last sign of life, never before it began."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from runs.models import Attempt


def end_time(attempt: Attempt, exit: Mapping[str, Any] | None, at: datetime | None) -> datetime:
    """Return when it ended: `at`, else the end in `exit`, else the last sign of life, else now."""
    now = timezone.now()
    told = at or _told_end(exit)
    if told is None:
        told = attempt.last_seen_at
    return now if told is None else max(min(told, now), attempt.requested_at)


def _told_end(exit: Mapping[str, Any] | None) -> datetime | None:
    text = (exit or {}).get("ended_at")
    try:
        told = parse_datetime(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return told if told is not None and told.tzinfo is not None else None
