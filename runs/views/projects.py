"""The project that a person works in: kept in the session, chosen at the top of every page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.context import current_project

__all__ = ["current_project", "switch_project"]


@require_POST
def switch_project(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.get("project", "")
    number = int(chosen) if chosen.isdecimal() else 0
    project = get_object_or_404(access.projects_of(caller(request)), pk=number)
    request.session["project_id"] = project.pk
    return redirect("runs:run_list")
