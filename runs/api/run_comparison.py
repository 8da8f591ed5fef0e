"""`/api/v1/comparison`: several runs beside each other."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from controlplane.common.api import Id, Output, Whole, caller
from runs import comparison
from runs.api.run_metrics import ChartQuery, question_of, refused
from runs.api.schemas import DiffOut, RunOut
from runs.api.shapes import number, row_shape, run_diff_shapes
from runs.metricstore.comparing import Summary
from runs.services import metrics

router = Router(tags=["runs"])


class ComparisonQuery(ChartQuery):
    """Which runs, which metrics, and over what."""

    run: list[Id] = Field(
        min_length=1,
        max_length=comparison.MOST_RUNS,
        description="Repeated; the first is the base.",
    )
    step: Whole | None = Field(
        None, ge=0, description="Where results are compared; the last common step when left out."
    )


class SummaryOut(Output):
    """What a curve came to; what is not finite is named by its word."""

    run: int
    name: str
    final: float | str | None
    least: float | None
    least_step: int | None
    at_step: float | str | None


class ComparisonOut(Output):
    """Runs beside each other."""

    runs: list[RunOut]
    diffs: list[DiffOut] = Field(
        description="From the first run to each other one: configs and base checkpoints."
    )
    step: int | None
    results: list[SummaryOut]
    x: str
    charts: list[dict[str, Any]] = Field(description="One document a run; empty without names.")


@router.get("", response=ComparisonOut, summary="Compare runs")
def compare(request: HttpRequest, query: Query[ComparisonQuery]) -> Any:
    """Return the differences of configs, what the named metrics came to, and their curves on one axis.

    Runs that you may not see are left out. `from` and `to` are in units of x; with x=time they count in milliseconds
    from the request of each run's first attempt.
    """
    rows = comparison.chosen(user=caller(request), run_ids=query.run)
    runs = [row.run for row in rows]
    step = query.step if query.step is not None else comparison.common_step(rows)
    names = query.names[: comparison.MOST_SUMMED]
    try:
        found = comparison.summaries(runs, names, step) if names else {}
        drawn = metrics.overlaid(runs=runs if names else [], **question_of(query))
    except ValueError as error:
        raise refused(error) from error
    return {
        "runs": [row_shape(row) for row in rows],
        "diffs": run_diff_shapes(runs[0], runs[1:]) if runs else [],
        "step": step,
        "results": [
            {"run": pk, "name": name} | _told(one)
            for pk, of_run in found.items()
            for name, one in of_run.items()
        ],
    } | drawn


def _told(summary: Summary) -> dict[str, Any]:
    told = asdict(summary)
    return told | {name: number(told[name]) for name in ("final", "at_step")}
