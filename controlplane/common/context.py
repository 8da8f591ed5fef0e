"""What every page shows around its content."""

from typing import Any

from django.http import HttpRequest

from controlplane.common import access
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
