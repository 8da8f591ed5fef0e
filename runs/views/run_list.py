"""The list of runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from controlplane.common.access import role_of
from controlplane.common.api import caller
from controlplane.common.models import Project, Role
from runs import run_table
from runs.forms.filters import ORDERS, SHELVES, STATES, RunFilterForm
from runs.services import open_approvals, saved_views
from runs.views.projects import current_project


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    filters = RunFilterForm(request.GET).filters()
    rows, next_cursor = run_table.table(project=project, filters=filters)
    groups, tags = run_table.groups_and_tags(project)
    rights = _rights(request, project)
    views = list(saved_views.views_of(caller(request), project.pk))
    context = {
        "project": project,
        "filters": filters,
        "rows": rows,
        "next_cursor": next_cursor,
        "states": STATES,
        "orders": ORDERS,
        "shelves": SHELVES,
        "groups": groups,
        "tags": tags,
        "views": views,
        "view_versions": saved_views.versions_of(caller(request), views),
        "rights": rights,
        "to_approve": rights["approver"] and open_approvals.count_for(caller(request), project),
        "is_filtered": filters.is_narrowed,
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


def _rights(request: HttpRequest, project: Project) -> dict[str, bool]:
    """Say which acts on chosen runs are offered; the services decide again."""
    role = role_of(caller(request), project.pk) or 0
    asked = {"operator": Role.OPERATOR, "approver": Role.APPROVER, "admin": Role.ADMIN}
    return {name: role >= least for name, least in asked.items()}
