"""The project that a person works in: kept in the session, chosen at the top of every page."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.common.api import caller
from controlplane.common.context import (
    choose,
    current_project,
    project_named,
    project_of_form,
    project_of_page,
)
from controlplane.common.models import Project
from runs import access

__all__ = ["current_project", "project_of_form", "project_of_link", "project_of_page", "switch_project"]  # fmt: skip
_NAMED: dict[str, Callable[..., Any]] = {
    "config": access.config_for, "parent": access.config_for, "card": access.card_for,
}  # fmt: skip


@require_POST
def switch_project(request: HttpRequest) -> HttpResponse:
    choose(request, project_named(request, request.POST.get("project", "")))
    return redirect("runs:run_list")


def project_of_link(request: HttpRequest, *names: str) -> Project | None:
    """Return the project of what the address names, as `?config=7`, and choose it: pages of every project link here.

    Raises:
        NotFound: There is no such object, or the person is no member of its project.
    """
    for name in names if request.method == "GET" else ():
        number = request.GET.get(name, "")
        if number.isdecimal() and len(number) < 19:
            project: Project = _NAMED[name](caller(request), int(number)).project
            choose(request, project)
            return project
    return project_of_form(request)
