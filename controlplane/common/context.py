"""What every page shows around its content."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from controlplane.common import access
from controlplane.common.errors import NotFound
from controlplane.common.models import Project


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the projects of the person and the one chosen; nothing for a stranger."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    projects = list(access.projects_of(user))
    chosen = request.session.get("project_id") if hasattr(request, "session") else None
    at_work = [project for project in projects if project.archived_at is None] or projects
    current = next((p for p in projects if p.pk == chosen), at_work[0] if at_work else None)
    return {"projects": projects, "current_project": current}


def current_project(request: HttpRequest) -> Project | None:
    """Return the project chosen, else the first one; None for a member of none."""
    project: Project | None = shell(request)["current_project"]
    return project


def project_of_page(request: HttpRequest) -> Project | None:
    """Return the project that a part of a page names, which need not be the one chosen; that one where it names none.

    Raises:
        NotFound: The person is no member of the one that is named.
    """
    named = (request.POST if request.method == "POST" else request.GET).get("project", "")
    return project_named(request, named) if named else current_project(request)


def project_of_form(request: HttpRequest) -> Project | None:
    """Return the project that a form was shown for, and choose it: another tab may have chosen another one since.

    Raises:
        NotFound: The person is no member of it.
    """
    if not request.POST.get("project"):
        return current_project(request)
    project = project_named(request, request.POST["project"])
    choose(request, project)
    return project


def choose(request: HttpRequest, project: Project) -> None:
    """Make it the one that this person works in."""
    if request.session.get("project_id") != project.pk:
        request.session["project_id"] = project.pk


def project_named(request: HttpRequest, number: str) -> Project:
    """Return the project with this number.

    Raises:
        NotFound: There is none, or the person is no member of it.
    """
    pk = int(number) if number.isdecimal() and len(number) < 19 else 0
    found: Project | None = access.projects_of(request.user).filter(pk=pk).first()  # type: ignore[arg-type]
    if found is None:
        raise NotFound(_("There is no such object, or you are no member of its project."))
    return found
