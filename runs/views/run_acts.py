"""Acts on a run: one address for each, a plain POST form behind every button."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from controlplane.common.api import caller
from controlplane.common.errors import SafeholdError
from runs import access
from runs.forms.launches import WaiverForm
from runs.models import Run
from runs.services import preflight, runs
from runs.views.run_pages import header_context


def _force_stop(*, run: Run, user: Any) -> None:
    runs.request_stop(run=run, user=user, force=True)


_SERVICES: dict[str, Callable[..., Any]] = {
    "launch": preflight.launch,
    "resume": runs.request_resume,
    "save": runs.request_save,
    "pause": runs.request_pause,
    "stop": runs.request_stop,
    "force-stop": _force_stop,
}


@require_POST
def act(request: HttpRequest, run_id: int, act: str) -> HttpResponse:
    if act not in _SERVICES:
        raise Http404
    run = access.run_for(caller(request), run_id, change=True)
    form = WaiverForm(request.POST)
    if not form.is_valid():
        told = " ".join(map(str, form.errors["waiver"]))
        return _refused(request, run, told, waiver=form.data.get("waiver", ""))
    given = {"waiver": form.cleaned_data["waiver"]} if act == "launch" else {}
    try:
        _SERVICES[act](run=run, user=caller(request), **given)
    except SafeholdError as error:
        told = " ".join(filter(None, [error.message, error.hint]))
        return _refused(request, run, told, **given)
    return _done(request, run_id, _said(act))


def _done(request: HttpRequest, run_id: int, said: str) -> HttpResponse:
    if not getattr(request, "htmx", False):
        messages.success(request, said)
        return redirect("runs:run_detail", run_id)
    run = access.run_for(caller(request), run_id)
    response = render(request, "runs/_run_header.html", header_context(request, run))
    response["X-Announce"] = quote(said)
    return response


def _refused(request: HttpRequest, run: Run, text: str, *, waiver: str = "") -> HttpResponse:
    if not getattr(request, "htmx", False):
        messages.error(request, text)
        return redirect("runs:run_detail", run.pk)
    context = header_context(request, run, refused=text, waiver=waiver)
    return render(request, "runs/_run_header.html", context, status=422)


def _said(act: str) -> str:
    return {
        "launch": _("Launch asked for."),
        "resume": _("Resume asked for."),
        "save": _("Save asked for: the trainer saves at its next step."),
        "pause": _("Pause asked for: the trainer saves at its next step, then waits."),
        "stop": _("Stop asked for: the trainer saves at its next step, then ends."),
        "force-stop": _("Forced stop asked for: the processes are being killed."),
    }[act]
