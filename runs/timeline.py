"""The timeline of a run: every event in one stream, newest first, by kind where asked."""

from typing import Any

from runs import listings
from runs.models import Event, Run


def context(run: Run, *, kind: str = "", cursor: str = "") -> dict[str, Any]:
    """Return one page of the timeline for its template."""
    events = Event.objects.filter(run=run).select_related("attempt", "user")
    kinds = list(
        Event.objects.filter(run=run).order_by("kind").values_list("kind", flat=True).distinct()
    )
    if kind:
        events = events.filter(kind=kind)
    found = listings.page_of(events, cursor=cursor, size=100)
    return {
        "events": found.rows, "next_cursor": found.next_cursor, "kinds": kinds, "kind": kind, "cursor": cursor,
    }  # fmt: skip
