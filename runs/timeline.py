"""The timeline of a run: every event in one stream, newest first, by kind where asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from runs import listings
from runs.models import Event, Run


@dataclass(frozen=True)
class Line:
    """One line of the page: the newest event, and what was told of the same thing before."""

    event: Event
    earlier: list[Event] = field(default_factory=list)


def context(run: Run, *, kind: str = "", cursor: str = "") -> dict[str, Any]:
    """Return one page of the timeline for its template."""
    events = Event.objects.filter(run=run).select_related("attempt", "user")
    kinds = list(
        Event.objects.filter(run=run).order_by("kind").values_list("kind", flat=True).distinct()
    )
    if kind:
        events = events.filter(kind=kind) if kind in kinds else events.none()
    found = listings.page_of(events, cursor=cursor, size=100)
    return {
        "lines": folded(found.rows), "next_cursor": found.next_cursor, "kinds": kinds, "kind": kind, "cursor": cursor,
    }  # fmt: skip


def folded(events: Iterable[Event]) -> list[Line]:
    """Return events, newest first, as lines: all that is told of one checkpoint stands in one."""
    lines: list[Line] = []
    of_checkpoint: dict[tuple[int | None, int], Line] = {}
    for event in events:
        key = _checkpoint(event)
        if key is not None and key in of_checkpoint:
            of_checkpoint[key].earlier.append(event)
            continue
        lines.append(Line(event))
        if key is not None:
            of_checkpoint[key] = lines[-1]
    return lines


def _checkpoint(event: Event) -> tuple[int | None, int] | None:
    step = event.data.get("step")
    if event.kind != "checkpoint" or not isinstance(step, int):
        return None
    return event.attempt_id, step
