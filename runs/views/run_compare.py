"""Several runs beside each other: curves, differences of their configs, what their metrics came to."""

from urllib.parse import urlencode

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from runs import comparison
from runs.forms.charts import ChartForm
from runs.forms.comparisons import ComparisonForm
from runs.run_table import RunRow
from runs.services import metrics
from runs.views.metrics import chart_texts


@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    rows = _rows(request)
    if len(rows) < 2:
        return render(request, "runs/compare_nothing.html", {"rows": rows})
    names = comparison.names_of(row.run for row in rows)
    found = comparison.differences(rows)
    context = {
        "rows": rows,
        "base": rows[0],
        "differences": found,
        "fields": comparison.fields(found),
        "dashboard": comparison.panels_of(names),
        "chart_texts": chart_texts(),
        "runs_told": [_told(row) for row in rows],
        "query": urlencode([("run", row.run.pk) for row in rows]),
    }
    return render(request, "runs/compare.html", context)


@require_GET
def summary(request: HttpRequest) -> HttpResponse:
    """What the curves came to: a part of the page that takes longer than the page itself."""
    rows, form = _rows(request), ComparisonForm(request.GET)
    runs = [row.run for row in rows]
    names = form.names or comparison.summed_names(comparison.panels_of(comparison.names_of(runs)))
    names = names[: comparison.MOST_SUMMED]
    step = form.at_step if form.at_step is not None else comparison.common_step(rows)
    found = comparison.summaries(runs, names, step)
    lines = [(row, [found[row.run.pk][name] for name in names]) for row in rows]
    context = {"rows": rows, "names": names, "lines": lines, "step": step}
    return render(request, "runs/_compare_summary.html", context)


@require_GET
def charts(request: HttpRequest) -> HttpResponse:
    """The curves of all runs on one axis."""
    runs = [row.run for row in _rows(request)]
    try:
        answer = metrics.overlaid(runs=runs, **ChartForm(request.GET).question())
    except ValueError as error:
        raise Invalid(str(error)) from error
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


def _rows(request: HttpRequest) -> list[RunRow]:
    return comparison.chosen(user=caller(request), run_ids=ComparisonForm(request.GET).run_ids)


def _told(row: RunRow) -> dict[str, object]:
    return {"id": row.run.pk, "name": row.run.name, "is_active": row.shown.is_active}
