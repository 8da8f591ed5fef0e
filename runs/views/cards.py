"""Experiment cards: the list, the form with its live estimate, the trail of changes."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.common.access import require, role_of
from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from controlplane.common.models import Role
from runs import access, estimates, listings, run_table
from runs.forms.cards import STAGES, TypedCard, sections_of
from runs.models import Card, Run
from runs.services import cards
from runs.views.projects import current_project
from safehold.planning import parse_card


@require_GET
def card_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    text = request.GET.get("q", "").replace("\x00", "").strip()
    found = Card.objects.filter(project=project, name__icontains=text).select_related("owner")
    page = listings.page_of(found, cursor=request.GET.get("cursor", ""))
    return render(
        request, "runs/card_list.html", {"page": page, "text": text, "stages": dict(STAGES)}
    )


@require_http_methods(["GET", "POST"])
def new_card(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    require(caller(request), project.pk, "card.create")
    if request.method == "GET":
        context = {
            "sections": sections_of({}),
            "estimate": estimates.of_card(parse_card({})),
            "stage": "pretrain",
        }
        return _form(request, context)
    typed = TypedCard(request.POST.dict())
    if typed.is_valid:
        try:
            card = cards.create_card(
                user=caller(request), project=project, name=typed.form.cleaned_data["name"],
                question=typed.form.cleaned_data["question"], stage=typed.form.cleaned_data["stage"], data=typed.document,
            )  # fmt: skip
        except Invalid as error:
            typed.refuse(error)
        else:
            messages.success(request, _("Card %(name)s was written.") % {"name": card.name})
            return redirect("runs:card_detail", card.pk)
    return _form(request, _typed_context(typed), status=422)


@require_http_methods(["GET", "POST"])
def card_detail(request: HttpRequest, card_id: int) -> HttpResponse:
    card = access.card_for(caller(request), card_id, change=request.method == "POST")
    if request.method == "GET":
        context = {
            "sections": sections_of(card.data), "estimate": estimates.of_card(parse_card(card.data)),
            "name": card.name, "question": card.question, "stage": card.stage,
        }  # fmt: skip
        return _form(request, context | _around(request, card))
    typed = TypedCard(request.POST.dict())
    if typed.is_valid:
        try:
            cards.update_card(
                user=caller(request), card=card, reason=typed.form.cleaned_data["reason"], name=typed.form.cleaned_data["name"],
                question=typed.form.cleaned_data["question"], stage=typed.form.cleaned_data["stage"], data=typed.document,
            )  # fmt: skip
        except Invalid as error:
            typed.refuse(error)
        else:
            messages.success(
                request,
                _("Card %(name)s was changed; the trail below keeps what it was.")
                % {"name": card.name},
            )
            return redirect("runs:card_detail", card.pk)
    return _form(request, _typed_context(typed) | _around(request, card), status=422)


@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """Recalculate the live column from what is typed; faults of single fields are told beside it."""
    typed = TypedCard(request.POST.dict())
    context = {
        "estimate": estimates.of_card(typed.fields),
        "faults": typed.faults,
        "sections": typed.sections(),
    }
    return render(request, "runs/_card_estimate.html", context | {"is_update": True})


def _form(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    return render(
        request,
        "runs/card_form.html",
        {"stages": STAGES, "can_change": True} | context,
        status=status,
    )


def _typed_context(typed: TypedCard) -> dict[str, Any]:
    form = typed.form
    return {
        "sections": typed.sections(), "estimate": estimates.of_card(typed.fields), "faults": typed.faults, "form": form,
        "name": form.data.get("name", ""), "question": form.data.get("question", ""), "stage": form.data.get("stage", ""),
    }  # fmt: skip


def _around(request: HttpRequest, card: Card) -> dict[str, Any]:
    role = role_of(caller(request), card.project_id)
    newest = run_table.with_names(Run.objects.filter(card=card)).order_by("-pk")[:20]
    return {
        "card": card,
        "can_change": role is not None and role >= Role.OPERATOR,
        "rows": run_table.rows_of(newest),
        "changes": card.changes.select_related("user")[:200],
        "configs": card.configs.all()[:20],
    }
