"""Keeping and forgetting lists of runs under a name."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from controlplane.common.api import caller
from controlplane.common.errors import NotFound, SafeholdError
from runs.services import saved_views
from runs.views.projects import project_of_form


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    project = project_of_form(request)
    if project is None:
        raise NotFound(_("You are a member of no project."))
    given = request.POST
    try:
        view = saved_views.save_view(
            user=caller(request), project=project, name=given.get("name", ""), query=given.get("query", ""),
            is_shared=given.get("is_shared") == "on", seen=_seen(given.get("seen", "")),
        )  # fmt: skip
    except SafeholdError as error:
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))
        return redirect(f"/runs/?{given.get('query', '')}")
    messages.success(request, _("The view %(name)s is kept.") % {"name": view.name})
    return redirect(f"/runs/?{view.query}")


def _seen(text: str) -> dict[str, str] | None:
    """Return the versions of one's own views as the page had them; None where it says nothing of them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(found, dict) and all(isinstance(one, str) for one in found.values())
    return found if is_ours else None


@require_POST
def remove(request: HttpRequest, view_id: int) -> HttpResponse:
    saved_views.remove_view(user=caller(request), view_id=view_id)
    messages.success(request, _("The view is forgotten."))
    return redirect("runs:run_list")
