"""The registry's table, and the run's checkpoints as a part of the run's page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from checkpoints import rows, selectors
from checkpoints.forms.filters import KINDS, ORDERS, PINS, STATES, FilterForm
from controlplane.common.access import may
from controlplane.common.api import caller
from controlplane.common.context import choose
from controlplane.common.errors import NotFound
from runs import access as run_access
from runs import listings
from runs.models import Run
from runs.views.projects import current_project


@require_GET
def index(request: HttpRequest) -> HttpResponse:
    filters = FilterForm(request.GET).filters()
    run = _run(request, filters.run_id) if filters.run_id else None
    if run is not None:  # its page links here, whatever project is chosen
        choose(request, run.project)
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    page = selectors.page(projects=[project], filters=filters)
    context = {
        "filters": filters,
        "run": run,
        "rows": rows.rows_of(page.rows),
        "next_cursor": page.next_cursor,
        "space": selectors.space_used(project),
        "states": STATES,
        "kinds": KINDS,
        "pins": PINS,
        "orders": ORDERS,
    }
    return render(request, "checkpoints/index.html", context)


@require_GET
def of_run(request: HttpRequest, run_id: int) -> HttpResponse:
    run = run_access.run_for(caller(request), run_id)
    if not getattr(request, "htmx", False):
        return redirect(f"{reverse('checkpoints:index')}?run={run.pk}")
    return render(request, "checkpoints/_of_run.html", _of_run(request, run))


def _run(request: HttpRequest, run_id: int) -> Run | None:
    try:
        return run_access.run_for(caller(request), run_id)
    except NotFound:
        return None


def _of_run(request: HttpRequest, run: Run) -> dict[str, Any]:
    cursor = request.GET.get("cursor", "")
    page = listings.page_of(selectors.for_run(run), cursor=cursor)
    return {
        "run": run,
        "rows": rows.rows_of(page.rows),
        "next_cursor": page.next_cursor,
        "since_saved": selectors.seconds_since_saved(run),
        "failed": selectors.newest_failed(run),
        "may_act": may(caller(request), run.project_id, "checkpoint.pin"),
        "may_resume": selectors.can_resume(run),
    }
