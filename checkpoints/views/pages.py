"""One checkpoint: state and proof first, then what it holds and where it came from."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from checkpoints import access, contents, drawing, rows, selectors
from checkpoints.models import Checkpoint
from checkpoints.selectors.lineage import Lineage, lineage_of
from controlplane.common.access import may, projects_of
from controlplane.common.api import caller


@require_GET
def detail(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, manifest=True)
    lineage = lineage_of(checkpoint, projects=projects_of(caller(request)))
    manifest = contents.read(checkpoint.manifest)
    context = {
        **proof_context(request, checkpoint),
        "manifest": manifest,
        "parts": contents.parts_of(manifest) if manifest else [],
        "lineage": lineage,
        "relatives": _relatives(lineage),
        "took_weights": lineage.took_weights(checkpoint),
        "drawing": drawing.draw(lineage),
    }
    return render(request, "checkpoints/detail.html", context)


@require_GET
def proof(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id)
    return render(request, "checkpoints/_proof.html", proof_context(request, checkpoint))


@require_GET
def tensors(request: HttpRequest, checkpoint_id: int, part: str) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, manifest=True)
    manifest = contents.read(checkpoint.manifest)
    text, start = request.GET.get("q", ""), request.GET.get("start", "")
    number = int(start) if start.isdecimal() and len(start) < 10 else 0
    page = contents.tensors_of(manifest, part, text=text, start=number) if manifest else None
    context = {"checkpoint": checkpoint, "part": part, "page": page, "text": text, "start": number}
    is_fragment = bool(getattr(request, "htmx", False))
    template = "checkpoints/_tensors.html" if is_fragment else "checkpoints/tensors.html"
    return render(request, template, context)


@require_GET
def manifest(request: HttpRequest, checkpoint_id: int) -> HttpResponse:
    checkpoint = access.checkpoint_for(caller(request), checkpoint_id, manifest=True)
    text = json.dumps(checkpoint.manifest, indent=1, ensure_ascii=False) + "\n"
    response = HttpResponse(text, content_type="application/json")
    name = f"run-{checkpoint.run_id}-step-{checkpoint.step}-manifest.json"
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response


def _relatives(lineage: Lineage) -> list[tuple[Checkpoint, str, int | None, bool]]:
    steps = {item.pk: item.step for item in lineage.checkpoints}
    words = {"self": _("this one"), "ancestor": _("ancestor"), "descendant": _("descendant")}
    return [
        (
            item, words[lineage.relation(item.pk)], steps.get(item.parent_id or 0), lineage.took_weights(item),
        )
        for item in lineage.checkpoints
    ]  # fmt: skip


def proof_context(request: HttpRequest, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what the proof and the acts of a checkpoint need."""
    return {
        "checkpoint": checkpoint,
        "run": checkpoint.run,
        "proof": rows.proof_of(checkpoint),
        "may_act": may(caller(request), checkpoint.run.project_id, "checkpoint.pin"),
        "may_resume": selectors.can_resume(checkpoint.run),
    }
