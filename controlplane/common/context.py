"""What every page shows around its content."""

from typing import Any

from django.http import HttpRequest

from controlplane.common import access


def shell(request: HttpRequest) -> dict[str, Any]:
    """Return the projects of the person and the one chosen; nothing for a stranger."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    projects = list(access.projects_of(user))
    chosen = request.session.get("project_id") if hasattr(request, "session") else None
    current = next((p for p in projects if p.pk == chosen), projects[0] if projects else None)
    return {"projects": projects, "current_project": current}
