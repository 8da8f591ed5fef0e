"""Acts on a checkpoint: a plain POST form behind every button."""

from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from checkpoints import access, recovery
from checkpoints.forms.forks import ForkForm
from checkpoints.models import Checkpoint
from checkpoints.services import registry, verification
from checkpoints.views.pages import proof_context
from controlplane.common.api import caller
from controlplane.common.errors import SafeholdError
from runs.models import Run
from runs.services import preflight, runs


@require_POST
def verify(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, change=True)
    verification.request(checkpoint=checkpoint, user=caller(request))
    return _done(request, checkpoint, _("Verification asked for."))


@require_POST
def pin(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, change=True)
    is_pinned = request.POST.get("pinned") == "yes"
    registry.pin(checkpoint=checkpoint, user=caller(request), is_pinned=is_pinned)
    said = _("Pinned: no clean-up removes it.") if is_pinned else _("No longer pinned.")
    return _done(request, checkpoint, said)


@require_http_methods(["GET", "POST"])
def fork(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, change=True)
    recovery.require_usable(checkpoint)
    if request.method == "GET":
        return _fork_page(request, checkpoint, ForkForm(checkpoint=checkpoint))
    form = ForkForm(request.POST, checkpoint=checkpoint)
    if not form.is_valid():
        return _fork_page(request, checkpoint, form, status=422)
    run = _forked(request, checkpoint, form.cleaned_data)
    return redirect("runs:run_detail", run.pk)


@require_POST
def resume(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, change=True)
    start = recovery.facts_of(recovery.require_usable(checkpoint))
    runs.request_resume(run=checkpoint.run, user=caller(request), from_checkpoint=start)
    said = _("Resume from step %(step)s asked for.") % {"step": f"{checkpoint.step:,}"}
    messages.success(request, said)
    return redirect("runs:run_detail", checkpoint.run_id)


def _forked(request: HttpRequest, checkpoint: Checkpoint, wanted: dict[str, Any]) -> Run:
    config = wanted["config"]
    launcher = str((config.document.get("compute") or {}).get("launcher", "local"))
    run = runs.create_run(
        user=caller(request),
        project=checkpoint.run.project,
        config=config,
        name=wanted["name"],
        launcher=launcher,
        parent=checkpoint.run,
        from_checkpoint=recovery.facts_of(checkpoint),
    )
    messages.success(request, _("Forked as %(name)s.") % {"name": run.name})
    if wanted["launch"]:
        _launch(request, run)
    return run


def _launch(request: HttpRequest, run: Run) -> None:
    try:
        preflight.launch(run=run, user=caller(request))
    except SafeholdError as error:
        # The run is there; its own page says what stands against the launch.
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))


def _fork_page(
    request: HttpRequest, checkpoint: Checkpoint, form: ForkForm, status: int = 200
) -> HttpResponse:
    context = {"checkpoint": checkpoint, "run": checkpoint.run, "form": form}
    return render(request, "checkpoints/fork.html", context, status=status)


def _done(request: HttpRequest, checkpoint: Checkpoint, said: str) -> HttpResponse:
    if not getattr(request, "htmx", False):
        messages.success(request, said)
        return redirect("checkpoints:detail", checkpoint.pk)
    response = render(request, "checkpoints/_proof.html", proof_context(request, checkpoint))
    response["X-Announce"] = quote(said)
    return response
