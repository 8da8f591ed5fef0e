"""Settings, Rulebook values: every rule with its reason and source, and the project's own bounds."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from controlplane.common.access import may
from controlplane.common.api import caller
from controlplane.common.errors import Invalid, SafeholdError
from runs import rulebook_table
from runs.forms.values import to_number
from runs.services import rulebook
from runs.views.projects import current_project


@require_GET
def table(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    families = rulebook_table.by_family(project.pk)
    context = {
        "section": "rulebook",
        "families": families,
        "num_own": sum(row.own is not None for _, rows in families for row in rows),
        "may_set": may(caller(request), project.pk, "rulebook.set"),
    }
    return render(request, "runs/rulebook.html", context)


@require_POST
def change(request: HttpRequest, rule_id: str) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    user, typed = caller(request), request.POST
    try:
        if "reset" in typed:
            rulebook.reset_value(user=user, project=project, rule_id=rule_id)
            messages.success(
                request, _("%(rule)s has its bounds as written again.") % {"rule": rule_id}
            )
        else:
            rulebook.set_value(
                user=user, project=project, rule_id=rule_id, low=_bound(typed, "low"),
                high=_bound(typed, "high"), reason=typed.get("reason", "").replace("\x00", "")[:2000],
            )  # fmt: skip
            messages.success(
                request, _("%(rule)s has bounds of this project now.") % {"rule": rule_id}
            )
    except SafeholdError as error:
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))
    answer: HttpResponse = redirect("runs:rulebook")
    answer["Location"] += f"#{rule_id}"
    return answer


def _bound(typed: Any, name: str) -> float | None:
    text = typed.get(name, "").strip()
    value = to_number(text) if text else None
    if isinstance(value, str):
        told = _("%(text)r is no number.") % {"text": text[:40]}
        raise Invalid(told, fields={name: [_("Write a number.")]})
    return value
