"""The curves of a run: thinned for a chart, what is flagged on them, and every point as a file."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from controlplane.common.api import Output, Whole, caller
from controlplane.common.errors import Invalid
from controlplane.common.streams import download
from runs import access, exports
from runs import flags as flagging
from runs.services import metrics

router = Router(tags=["runs"])
_FILES: dict[str, Any] = {
    kind.content_type: {"schema": {"type": "string", "format": "binary"}}
    for kind in exports.FORMATS.values()
}


class ChartQuery(Schema):
    """What a chart asks for."""

    names: list[str] = Field(
        default_factory=list, description="Repeated; without one the names are listed."
    )
    x: Literal["tokens", "step", "time"] = "tokens"
    start: Whole | None = Field(
        None, alias="from", description="In units of x; time in unix milliseconds."
    )
    end: Whole | None = Field(None, alias="to")
    points: Whole = Field(1000, description="At most so many of each, 10 to 20,000.")


class MetricQuery(ChartQuery):
    """What a chart of one run asks for."""

    rank: Whole | None = Field(
        None, ge=0, description="Of each attempt the lowest that logs it, when left out."
    )


class ExportQuery(Schema):
    """Which metrics, in which form."""

    format: Literal["csv", "parquet", "tensorboard"] = "csv"
    names: list[str] = Field(default_factory=list, description="Repeated; all without one.")


class FlagOut(Output):
    """A checkpoint or an alert on the curves."""

    kind: Literal["checkpoint", "alert"]
    step: int
    attempt: int | None
    text: str
    tone: Literal["good", "wait", "bad"]
    href: str = Field(description="Path of the page that says more; may be empty.")


class FlagsOut(Output):
    """What is flagged, by step."""

    flags: list[FlagOut]


@router.get("/{run_id}/metrics", response=dict[str, Any], summary="Read metrics")
def read_metrics(request: HttpRequest, run_id: int, query: Query[MetricQuery]) -> Any:
    """Return series thinned to `points`, their extremes kept; or, without names, the names there are."""
    run = access.run_for(caller(request), run_id)
    with_names = question_of(query) | {"rank": query.rank}
    try:
        chart = metrics.read_chart(run=run, **with_names)
    except ValueError as error:
        raise refused(error) from error
    return chart if query.names else chart | {"names": metrics.list_names(run)}


@router.get(
    "/{run_id}/metrics/export",
    summary="Export metrics",
    openapi_extra={"responses": {200: {"description": "The file.", "content": _FILES}}},
)
def export_metrics(request: HttpRequest, run_id: int, query: Query[ExportQuery]) -> Any:
    """Return every point of the run, or of the metrics named, as a file that is streamed."""
    run = access.run_for(caller(request), run_id)
    file = exports.export_of(run=run, format=query.format, names=query.names)
    return download(request, file.parts, file_name=file.file_name, content_type=file.content_type)


@router.get("/{run_id}/flags", response=FlagsOut, summary="What is flagged on the curves")
def list_flags(request: HttpRequest, run_id: int) -> Any:
    """Return the run's checkpoints, with their newest state, and its alerts, by step."""
    run = access.run_for(caller(request), run_id)
    return {"flags": [asdict(flag) for flag in flagging.flags_of(run)]}


def question_of(query: ChartQuery) -> dict[str, Any]:
    """Return the arguments of the readers of charts."""
    return {
        "names": query.names,
        "x": query.x,
        "start": query.start,
        "end": query.end,
        "points": query.points,
    }


def refused(error: ValueError) -> Invalid:
    """Return what the metric store refuses as a problem of the field that it names."""
    return Invalid(str(error), fields={str(error).partition(" ")[0]: [str(error)]})
