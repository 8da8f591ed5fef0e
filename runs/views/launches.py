"""Launching: choose a config, name the run, start it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from controlplane.common.access import require
from controlplane.common.api import caller
from controlplane.common.errors import SafeholdError
from controlplane.common.models import Project
from runs import reports
from runs.forms.launches import LaunchForm, launchers
from runs.models import Config, PreflightReport, Run
from runs.services import approvals, base_lines, changes, launch_bases, preflight, runs
from runs.views.projects import project_of_link
from safehold.planning.stages import defaults_of

_MOST_CONFIGS = 200


@require_http_methods(["GET", "POST"])
def new_run(request: HttpRequest) -> HttpResponse:
    project = project_of_link(request, "config")
    if project is None:
        return render(request, "runs/no_project.html")
    require(caller(request), project.pk, "run.create")
    if request.method == "GET":
        return _page(request, project, LaunchForm(project=project, initial=request.GET.dict()))
    form = LaunchForm(request.POST, project=project)
    if not form.is_valid():
        return _page(request, project, form, status=422)
    if not _is_startable(request, form):
        return _page(request, project, form, status=422)
    # Asked before anything is made: a config that cannot work leaves no run behind.
    asked = form.cleaned_data
    report = preflight.gate(
        config=asked["config"], launcher=asked["launcher"], user=caller(request)
    )
    may_waive = bool(asked["waiver"]) and not asked["config"].is_production
    if report.verdict == "fail" and not may_waive:
        return _page(request, project, form, blocked=report, status=422)
    return redirect("runs:run_detail", _launch(request, project, form, report).pk)


def _is_startable(request: HttpRequest, form: LaunchForm) -> bool:
    """Say beside the config why this person may not start it now, if so."""
    try:
        approvals.require_approved(config=form.cleaned_data["config"], user=caller(request))
    except SafeholdError as error:
        form.add_error("config", f"{error.message} {error.hint}".strip())
        return False
    return True


def _launch(
    request: HttpRequest, project: Project, form: LaunchForm, report: PreflightReport
) -> Run:
    config = form.cleaned_data["config"]
    run = runs.create_run(
        user=caller(request), project=project, config=config, card=config.card,
        name=form.cleaned_data["name"], launcher=form.cleaned_data["launcher"],
        reason=form.cleaned_data["reason"],
    )  # fmt: skip
    try:
        waiver = form.cleaned_data["waiver"]
        weights = form.cleaned_data["weights_from"]
        preflight.launch(
            run=run, user=caller(request), report=report, waiver=waiver, weights_from=weights,
        )  # fmt: skip
    except SafeholdError as error:
        # The run is there and can be launched from its own page, which says what stood against it.
        messages.error(request, error.message)
    else:
        messages.success(request, _("Launch of %(name)s asked for.") % {"name": run.name})
    return run


def _page(
    request: HttpRequest,
    project: Project,
    form: LaunchForm,
    *,
    blocked: PreflightReport | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = str(form["config"].value() or "")
    choices = _choices(project, asked)
    chosen = next((one for one in choices if str(one.pk) == asked), choices[0] if choices else None)
    context = {
        "form": form, "configs": choices, "chosen": chosen, "launchers": launchers(chosen),
        "launcher": form["launcher"].value() or "", "blocking": reports.blocking(blocked) if blocked else [],
        "report": chosen.preflight_reports.first() if chosen else None,
        "reason": form["reason"].value() or (changes.reason_of_pilot(chosen) if chosen else ""),
        **(_base_context(form, chosen) if chosen else {}),
    }  # fmt: skip
    return render(request, "runs/launch_form.html", context, status=status)


def _choices(project: Project, asked: str) -> list[Config]:
    """Return the configs to choose from: the newest ones, and the one that is asked for however old it is."""
    found = Config.objects.filter(project=project).select_related("card", "parent")
    newest = list(found[:_MOST_CONFIGS])
    if any(str(one.pk) == asked for one in newest) or not asked.isdecimal() or len(asked) > 18:
        return newest
    return [*found.filter(pk=int(asked)), *newest]


def _base_context(form: LaunchForm, chosen: Config) -> dict[str, Any]:
    """Return what it would begin with, what stands against that, and what changes by it."""
    base = base_lines.of_card(chosen.card)
    typed = str(form["weights_from"].value() or "")
    asked = int(typed) if typed.isdecimal() and len(typed) < 19 else 0
    found = list(launch_bases.faults(config=chosen, base=asked or base, is_asked=bool(asked)))
    told = list(form.errors.get("weights_from", []))
    if not form.is_bound:
        told = [text for field, text in found if field == "weights_from"]
    return {
        "base": base, "base_now": asked or base, "base_faults": told,
        "needs_base": chosen.card is not None and defaults_of(chosen.card.stage).needs_base,
        "card_faults": [text for field, text in found if field == "card"],
        "base_before": base_lines.before(config=chosen, parent=None),
        "change": changes.of_new_run(config=chosen, base=asked or base),
    }  # fmt: skip
