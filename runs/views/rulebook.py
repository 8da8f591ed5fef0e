"""Settings, Rulebook values: every rule with its reason and source, and the project's own bounds."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from controlplane.common.access import may
from controlplane.common.api import caller
from controlplane.common.errors import Invalid, SafeholdError
from controlplane.common.models import Project
from controlplane.common.versions import ChangedMeanwhile
from runs import rulebook_table
from runs.forms.values import to_number
from runs.services import rulebook
from runs.views.projects import project_of_form, project_of_link


@require_GET
def table(request: HttpRequest) -> HttpResponse:
    project = project_of_link(request, "config")
    if project is None:
        return render(request, "runs/no_project.html")
    return _page(request, project)


@require_POST
def change(request: HttpRequest, rule_id: str) -> HttpResponse:
    project = project_of_form(request)
    if project is None:
        return render(request, "runs/no_project.html")
    try:
        told = _reset(request, project, rule_id) if "reset" in request.POST else _set(request, project, rule_id)  # fmt: skip
    except (Invalid, ChangedMeanwhile) as error:
        return _page(request, project, refused=_refused(rule_id, request.POST, error))
    except SafeholdError as error:
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))
        return redirect("runs:rulebook")
    messages.success(request, told % {"rule": rule_id})
    return redirect(f"{reverse('runs:rulebook')}#{rule_id}")


def _set(request: HttpRequest, project: Project, rule_id: str) -> str:
    typed = request.POST
    rulebook.set_value(
        user=caller(request), project=project, rule_id=rule_id, low=_bound(typed, "low"), high=_bound(typed, "high"),
        reason=typed.get("reason", "").replace("\x00", "")[:2000], seen=typed.get("version", ""),
    )  # fmt: skip
    return _("%(rule)s has bounds of this project now.")


def _reset(request: HttpRequest, project: Project, rule_id: str) -> str:
    seen = request.POST.get("version", "")
    rulebook.reset_value(user=caller(request), project=project, rule_id=rule_id, seen=seen)
    return _("%(rule)s has its bounds as written again.")


def _page(
    request: HttpRequest, project: Project, *, refused: dict[str, Any] | None = None
) -> HttpResponse:
    families = rulebook_table.by_family(project.pk)
    context = {
        "section": "rulebook",
        "families": families,
        "num_own": sum(row.own is not None for _, rows in families for row in rows),
        "may_set": may(caller(request), project.pk, "rulebook.set"),
        "refused": refused,
    }
    return render(request, "runs/rulebook.html", context, status=422 if refused else 200)


def _refused(rule_id: str, typed: QueryDict, error: SafeholdError) -> dict[str, Any]:
    """Return what was typed and why it was not kept; what somebody else set meanwhile is written over the next time."""
    told, version = f"{error.message} {error.hint}".strip(), typed.get("version", "")
    if isinstance(error, ChangedMeanwhile):
        hint = _("What you typed stands below and was not kept; keep it again to write it over that.")  # fmt: skip
        told, version = f"{error.message} {hint}", error.extra["version"]
    shown = {name: typed.get(name, "") for name in ("low", "high", "reason")}
    return shown | {"rule_id": rule_id, "told": told, "version": version}


def _bound(typed: QueryDict, name: str) -> float | None:
    text = typed.get(name, "").strip()
    value = to_number(text) if text else None
    if isinstance(value, str):
        told = _("%(text)r is no number.") % {"text": text[:40]}
        raise Invalid(told, fields={name: [_("Write a number.")]})
    return value
