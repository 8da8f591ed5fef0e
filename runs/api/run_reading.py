"""What a run says: timeline, logs, pods, difference to another."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Schema
from pydantic import Field

from controlplane.common.api import Id, Page, PageQuery, Whole, caller
from controlplane.common.errors import NotFound
from runs import access, listings, log_reading
from runs.api.schemas import DiffOut, EventOut, PodsOut
from runs.api.shapes import event_shape, run_diff_shapes

router = Router(tags=["runs"])


class EventQuery(PageQuery):
    """Which lines of the timeline."""

    kind: str = ""


class LogQuery(Schema):
    """Which log, from where."""

    attempt: Id | None = Field(None, description="Number; the newest when left out.")
    source: str = Field(
        "", description="rank-0, wrapper …; rank-0, or the first one, when left out."
    )
    offset: Whole | None = Field(
        None, ge=0, description="From this byte on; the end of the log when left out."
    )


@router.get("/{run_id}/pods", response=PodsOut, summary="List the pods of an attempt")
def list_pods(request: HttpRequest, run_id: int, attempt: Id | None = None) -> Any:
    """Return the pods of the newest attempt, or of the one named, and where it differs from its config."""
    run = access.run_for(caller(request), run_id)
    attempts = run.attempts.select_related("sight")
    found = attempts.filter(number=attempt).first() if attempt else attempts.first()
    if found is None:
        raise _without_attempt(run_id, attempt)
    sight = getattr(found, "sight", None)
    table = sight.pods if sight else {}
    return {
        "attempt": found.number, "num": table.get("num", 0), "words": table.get("words", {}),
        "pods": table.get("rows", []), "seen_at": sight.seen_at if sight else None,
        "drift": sight.drift if sight else [],
    }  # fmt: skip


@router.get("/{run_id}/events", response=Page[EventOut], summary="Read the timeline")
def list_events(request: HttpRequest, run_id: int, filters: Query[EventQuery]) -> Any:
    """List what happened, newest first."""
    run = access.run_for(caller(request), run_id)
    found = run.events.select_related("attempt", "user")
    if filters.kind:
        found = found.filter(kind=filters.kind)
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit, is_strict=True)
    return {"items": [event_shape(event) for event in page.rows], "next": page.next_cursor or None}


@router.get("/{run_id}/logs", response=dict[str, Any], summary="Read a log")
def read_logs(request: HttpRequest, run_id: int, query: Query[LogQuery]) -> Any:
    """Return text and `next`, the offset to go on from."""
    run = access.run_for(caller(request), run_id)
    log = log_reading.choose(run, "" if query.attempt is None else str(query.attempt), query.source)
    if query.attempt is not None and (log.attempt is None or log.attempt.number != query.attempt):
        raise _without_attempt(run.pk, query.attempt)
    if query.source and log.attempt and log.sources and query.source != log.source:
        raise _without_log(log.attempt.number, query.source, log.sources)
    piece = log_reading.tail(log, offset=query.offset)
    return {
        "attempt": log.attempt.number if log.attempt else None,
        "source": log.source if log.sources else query.source or log.source,
        "sources": log.sources,
        "text": piece.text,
        "next": piece.next_offset,
        "has_more": piece.has_more,
        "is_cut": piece.is_cut,
    }


@router.get("/{run_id}/diff", response=DiffOut, summary="Compare two runs")
def diff(request: HttpRequest, run_id: int, other: Id) -> Any:
    """Return what changes from this run to the other: their configs, and `base_checkpoint` where it is another one."""
    user = caller(request)
    first, second = access.run_for(user, run_id), access.run_for(user, other)
    return run_diff_shapes(first, [second])[0]


def _without_attempt(run_id: int, number: int | None) -> NotFound:
    if not number:
        return NotFound(_("Run %(run)s has no attempt.") % {"run": run_id})
    told = _("Run %(run)s has no attempt %(number)s.")
    return NotFound(told % {"run": run_id, "number": number})


def _without_log(attempt: int, source: str, sources: list[str]) -> NotFound:
    told = _("Attempt %(attempt)s has no log %(source)s; it has %(choices)s.")
    choices = ", ".join(sources)
    return NotFound(told % {"attempt": attempt, "source": source[:100], "choices": choices})
