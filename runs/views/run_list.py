"""The list of runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from controlplane.common.api import caller
from runs import run_table
from runs.forms.filters import ORDERS, STATES, RunFilterForm
from runs.views.projects import current_project


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    filters = RunFilterForm(request.GET).filters()
    rows, next_cursor = run_table.table(project=project, filters=filters)
    context = {
        "project": project,
        "filters": filters,
        "rows": rows,
        "next_cursor": next_cursor,
        "states": STATES,
        "orders": ORDERS,
        "is_filtered": any(
            [filters.text, filters.state, filters.owner, filters.card_id, filters.config_id]
        ),
    }
    return render(request, "runs/run_list.html", context)


@require_GET
def run_rows(request: HttpRequest) -> HttpResponse:
    """Some lines again: an open list asks for those that changed."""
    asked = [
        int(run) for run in request.GET.getlist("run")[:100] if run.isdecimal() and len(run) < 18
    ]
    rows = run_table.some(user=caller(request), run_ids=asked)
    return render(request, "runs/_run_rows.html", {"rows": rows})
