"""Experiment cards: the list, the form with its live estimate, what stands around a kept card."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from controlplane.common.access import may, require
from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from controlplane.common.versions import ChangedMeanwhile
from runs import access, card_page, estimates, listings
from runs.forms.cards import STAGES, TypedCard, sections_of, starting_data
from runs.models import Card
from runs.services import cards
from runs.views.projects import current_project, project_of_form, project_of_page
from safehold.planning import read_card
from safehold.planning.stages import STAGES as KNOWN_STAGES


@require_GET
def card_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    text = request.GET.get("q", "").replace("\x00", "").strip()
    found = Card.objects.filter(project=project, name__icontains=text)
    if (stage := request.GET.get("stage", "")) in KNOWN_STAGES:
        found = found.filter(stage=stage)
    page = listings.page_of(
        found.select_related("owner", "parent"), cursor=request.GET.get("cursor", "")
    )
    context = {
        "page": page, "text": text, "stages": dict(STAGES), "stage": stage,
        "can_change": may(caller(request), project.pk, "card.create"),
    }  # fmt: skip
    return render(request, "runs/card_list.html", context)


@require_http_methods(["GET", "POST"])
def new_card(request: HttpRequest) -> HttpResponse:
    project = project_of_form(request)
    if project is None:
        return render(request, "runs/no_project.html")
    require(caller(request), project.pk, "card.create")
    if request.method == "GET":
        return _form(request, _fresh_context(request.GET.get("stage", ""), project.pk))
    typed = TypedCard(request.POST.dict())
    if typed.is_valid:
        given = {key: typed.form.cleaned_data[key] for key in ("name", "question", "stage")}
        try:
            card = cards.create_card(
                user=caller(request), project=project, data=typed.document, **given
            )
        except Invalid as error:
            typed.refuse(error)
        else:
            messages.success(request, _("Card %(name)s was written.") % {"name": card.name})
            return redirect("runs:card_detail", card.pk)
    return _form(request, _typed_context(typed, project.pk), status=422)


@require_http_methods(["GET", "POST"])
def card_detail(request: HttpRequest, card_id: int) -> HttpResponse:
    card = access.card_for(caller(request), card_id, change=request.method == "POST")
    if request.method == "GET":
        return _form(request, _kept_context(card) | card_page.around(caller(request), card))
    typed, seen_at = TypedCard(request.POST.dict()), request.POST.get("seen_at", "")
    if typed.is_valid:
        given = {key: typed.form.cleaned_data[key] for key in ("name", "question", "stage", "reason", "seen_at")}  # fmt: skip
        try:
            cards.update_card(user=caller(request), card=card, data=typed.document, **given)
        except Invalid as error:
            typed.refuse(error)
        except ChangedMeanwhile as error:
            hint = _(
                "What you typed stands below and was not kept; keep it again to write it over that."
            )
            typed.form.add_error(None, f"{error.message} {hint}")
            card.refresh_from_db()
            seen_at = card.updated_at.isoformat()
        else:
            told = _("Card %(name)s was changed; the trail below keeps what it was.")
            messages.success(request, told % {"name": card.name})
            return redirect("runs:card_detail", card.pk)
    around = card_page.around(caller(request), card) | {"seen_at": seen_at}
    return _form(request, _typed_context(typed, card.project_id) | around, status=422)


@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """Recalculate the live column from what is typed; faults of single fields are told beside it."""
    typed, project = TypedCard(request.POST.dict()), project_of_page(request)
    estimate = (
        estimates.in_project(typed.fields, typed.stage, project.pk)
        if project
        else estimates.of_card(typed.fields, typed.stage)
    )
    context = {
        "estimate": estimate,
        "faults": typed.faults,
        "sections": typed.sections(),
    }
    return render(request, "runs/_card_estimate.html", context | {"is_update": True})


def _form(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    around = {"stages": STAGES, "can_change": True, "clusters": card_page.clusters()}
    return render(request, "runs/card_form.html", around | context, status=status)


def _fresh_context(asked: str, project_id: int) -> dict[str, Any]:
    stage = asked if asked in KNOWN_STAGES else STAGES[0][0]
    data = starting_data(stage)
    return {
        "sections": sections_of(data),
        "estimate": estimates.in_project(read_card(data), stage, project_id),
        "stage": stage,
    }


def _kept_context(card: Card) -> dict[str, Any]:
    return {
        "sections": sections_of(card.data),
        "estimate": estimates.of_kept(card),
        "name": card.name,
        "question": card.question,
        "stage": card.stage,
        "seen_at": card.updated_at.isoformat(),
    }


def _typed_context(typed: TypedCard, project_id: int) -> dict[str, Any]:
    form = typed.form
    shown = {key: form.data.get(key, "") for key in ("name", "question", "stage", "reason")}
    return shown | {
        "sections": typed.sections(),
        "estimate": estimates.in_project(typed.fields, typed.stage, project_id),
        "faults": typed.faults,
        "form": form,
    }
