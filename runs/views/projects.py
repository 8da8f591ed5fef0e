"""The project that a person works in: kept in the session, chosen at the top of every page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.context import current_project
from controlplane.common.models import Project

__all__ = ["current_project", "project_of_page", "switch_project"]


@require_POST
def switch_project(request: HttpRequest) -> HttpResponse:
    project = _named(request, request.POST.get("project", ""))
    request.session["project_id"] = project.pk
    return redirect("runs:run_list")


def project_of_page(request: HttpRequest) -> Project | None:
    """Return the project of the object that a part of its page names, which need not be the one chosen."""
    named = (request.POST if request.method == "POST" else request.GET).get("project", "")
    return _named(request, named) if named else current_project(request)


def _named(request: HttpRequest, text: str) -> Project:
    number = int(text) if text.isdecimal() and len(text) < 19 else 0
    return get_object_or_404(access.projects_of(caller(request)), pk=number)
