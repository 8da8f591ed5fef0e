"""Choosing a base checkpoint beside the field of its number; the answers are parts of a card's page and of the launch page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from checkpoints.choices import choices_of
from checkpoints.selectors.choices import MOST_CHOICES, base_choice, base_choices
from runs.views.projects import project_of_page


@require_GET
def choices(request: HttpRequest) -> HttpResponse:
    project, text = project_of_page(request), request.GET.get("checkpoint_search", "")
    found = base_choices(project, text) if project else []
    context = {"choices": choices_of(found), "text": text, "is_cut": len(found) == MOST_CHOICES}
    return render(request, "checkpoints/_choices.html", context)


@require_GET
def chosen(request: HttpRequest) -> HttpResponse:
    asked, project = request.GET, project_of_page(request)
    number = asked.get("weights_from") or asked.get("base_checkpoint", "")
    found = base_choice(project, number) if project else None
    context = {"choice": choices_of([found])[0] if found else None}
    return render(request, "checkpoints/_chosen.html", context)
