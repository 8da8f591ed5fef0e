"""What a run says: metrics, timeline, logs, preflight, difference to another."""

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from controlplane.common.api import Page, PageQuery, caller
from controlplane.common.errors import Invalid, NotFound
from runs import access, listings, log_reading
from runs.api.schemas import DiffOut, EventOut, PodsOut
from runs.api.shapes import diff_shape, event_shape
from runs.services import metrics

router = Router(tags=["runs"])


class MetricQuery(Schema):
    """What a chart asks for."""

    names: list[str] = Field(
        default_factory=list, description="Repeated; without one the names are listed."
    )
    x: Literal["tokens", "step", "time"] = "tokens"
    start: int | None = Field(
        None, alias="from", description="In units of x; time in unix milliseconds."
    )
    end: int | None = Field(None, alias="to")
    points: int = Field(1000, description="At most so many of each, 10 to 20,000.")
    rank: int | None = None


class EventQuery(PageQuery):
    """Which lines of the timeline."""

    kind: str = ""


class LogQuery(Schema):
    """Which log, from where."""

    attempt: int | None = Field(None, description="Number; the newest when left out.")
    source: str = Field("rank-0", description="rank-0, wrapper …")
    offset: int | None = Field(
        None, ge=0, description="From this byte on; the end of the log when left out."
    )


@router.get("/{run_id}/pods", response=PodsOut, summary="List the pods of an attempt")
def list_pods(request: HttpRequest, run_id: int, attempt: int | None = None) -> Any:
    """Return the pods of the newest attempt, or of the one named, and where it differs from its config."""
    run = access.run_for(caller(request), run_id)
    attempts = run.attempts.select_related("sight")
    found = attempts.filter(number=attempt).first() if attempt else attempts.first()
    if found is None:
        raise NotFound(f"Run {run_id} has no attempt{f' {attempt}' if attempt else ''}.")
    sight = getattr(found, "sight", None)
    table = sight.pods if sight else {}
    return {
        "attempt": found.number, "num": table.get("num", 0), "words": table.get("words", {}),
        "pods": table.get("rows", []), "seen_at": sight.seen_at if sight else None,
        "drift": sight.drift if sight else [],
    }  # fmt: skip


@router.get("/{run_id}/metrics", response=dict[str, Any], summary="Read metrics")
def read_metrics(request: HttpRequest, run_id: int, query: Query[MetricQuery]) -> Any:
    """Return series thinned to `points`, their extremes kept; or, without names, the names there are."""
    run = access.run_for(caller(request), run_id)
    try:
        chart = metrics.read_chart(
            run=run,
            names=query.names,
            x=query.x,
            start=query.start,
            end=query.end,
            points=query.points,
            rank=query.rank,
        )
    except ValueError as error:
        raise Invalid(str(error), fields={str(error).partition(" ")[0]: [str(error)]}) from error
    return chart if query.names else chart | {"names": metrics.list_names(run)}


@router.get("/{run_id}/events", response=Page[EventOut], summary="Read the timeline")
def list_events(request: HttpRequest, run_id: int, filters: Query[EventQuery]) -> Any:
    """List what happened, newest first."""
    run = access.run_for(caller(request), run_id)
    found = run.events.select_related("attempt", "user")
    if filters.kind:
        found = found.filter(kind=filters.kind)
    page = listings.page_of(found, cursor=filters.cursor, size=filters.limit)
    return {"items": [event_shape(event) for event in page.rows], "next": page.next_cursor or None}


@router.get("/{run_id}/logs", response=dict[str, Any], summary="Read a log")
def read_logs(request: HttpRequest, run_id: int, query: Query[LogQuery]) -> Any:
    """Return text and `next`, the offset to go on from."""
    run = access.run_for(caller(request), run_id)
    log = log_reading.choose(run, "" if query.attempt is None else str(query.attempt), query.source)
    if query.attempt is not None and (log.attempt is None or log.attempt.number != query.attempt):
        raise NotFound(f"Run {run.pk} has no attempt {query.attempt}.")
    piece = log_reading.tail(log, offset=query.offset)
    return {
        "attempt": log.attempt.number if log.attempt else None,
        "source": log.source,
        "sources": log.sources,
        "text": piece.text,
        "next": piece.next_offset,
        "has_more": piece.has_more,
        "is_cut": piece.is_cut,
    }


@router.get("/{run_id}/diff", response=DiffOut, summary="Compare the configs of two runs")
def diff(request: HttpRequest, run_id: int, other: int) -> Any:
    """Return what changes from the config of this run to that of the other."""
    user = caller(request)
    return diff_shape(access.run_for(user, run_id).config, access.run_for(user, other).config)
