"""Acts on runs as records: labels, archive, deletion; on one run, or on all that were chosen in the list."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.common.api import caller
from controlplane.common.errors import Invalid, SafeholdError
from controlplane.common.versions import ChangedMeanwhile
from runs import access
from runs.forms.comparisons import numbers
from runs.labels import split_tags
from runs.models import Run
from runs.services import run_labels, run_shelf

_SHELF: dict[str, Callable[..., Any]] = {
    "archive": run_shelf.archive_run,
    "unarchive": run_shelf.unarchive_run,
    "delete": run_shelf.request_deletion,
    "keep": run_shelf.keep_run,
}
MOST_RUNS = 500


@require_POST
def act_on_chosen(request: HttpRequest, act: str) -> HttpResponse:
    """Do one thing with every chosen run: all of them, or none where one refuses."""
    runs = _chosen(request)
    if act == "compare":
        oldest_first = urlencode([("run", run_id) for run_id in sorted(run.pk for run in runs)])
        return redirect(f"{reverse('runs:compare')}?{oldest_first}")
    try:
        with transaction.atomic():
            _do(act, runs, request)
    except SafeholdError as error:
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))
    else:
        messages.success(request, _said(act, len(runs)))
    return redirect(_back(request))


@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest, run_id: int) -> HttpResponse:
    """Change what people write on a run."""
    run = access.run_for(caller(request), run_id)
    if request.method == "GET":
        return _labels_page(request, run, _written(run))
    typed = {name: request.POST.get(name, "") for name in ("name", "group", "tags", "notes")}
    try:
        run_labels.label_run(
            run=run, user=caller(request), name=typed["name"], group=typed["group"],
            tags=split_tags(typed["tags"]), notes=typed["notes"], seen=request.POST.get("version", ""),
        )  # fmt: skip
    except (Invalid, ChangedMeanwhile) as error:
        return _labels_page(request, run, typed, error)
    messages.success(request, _("Kept."))
    return redirect("runs:run_proof", run.pk)


def _said(act: str, n: int) -> str:
    """Return what was done, with how many runs."""
    said = {
        "archive": ngettext("Archived %(n)s run.", "Archived %(n)s runs.", n),
        "unarchive": ngettext("Brought %(n)s run back.", "Brought %(n)s runs back.", n),
        "delete": ngettext("%(n)s run is to be deleted.", "%(n)s runs are to be deleted.", n),
        "keep": ngettext("%(n)s run is kept.", "%(n)s runs are kept.", n),
        "label": ngettext("Labelled %(n)s run.", "Labelled %(n)s runs.", n),
    }
    return said[act] % {"n": n}


def _do(act: str, runs: list[Run], request: HttpRequest) -> None:
    user = caller(request)
    if act == "label":
        given = request.POST
        run_labels.label_runs(
            runs=runs, user=user, group=given.get("group") or None,
            add_tags=split_tags(given.get("tags", "")), remove_tags=split_tags(given.get("untags", "")),
        )  # fmt: skip
        return
    if act not in _SHELF:
        raise Http404
    for run in sorted(runs, key=lambda one: one.pk):
        _SHELF[act](run=run, user=user)


def _chosen(request: HttpRequest) -> list[Run]:
    wanted = numbers(request.POST.getlist("run"))[:MOST_RUNS]
    return [access.run_for(caller(request), run_id) for run_id in dict.fromkeys(wanted)]


def _back(request: HttpRequest) -> str:
    asked = request.POST.get("back", "")
    is_ours = url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_ours and asked.startswith("/runs/") else "/runs/"


def _written(run: Run) -> dict[str, str]:
    return {"name": run.name, "group": run.group, "tags": " ".join(run.tags), "notes": run.notes}


def _labels_page(
    request: HttpRequest, run: Run, typed: dict[str, str], error: SafeholdError | None = None
) -> HttpResponse:
    version, stale = run_labels.version_of(run), ""
    if isinstance(error, ChangedMeanwhile):
        version = error.extra["version"]
        hint = _("What you typed stands below and was not kept; keep it again to write it over that.")  # fmt: skip
        stale = f"{error.message} {hint}"
    elif error is not None:  # nothing was looked at yet that the person had not seen before
        version = request.POST.get("version", version)
    context = {"run": run, "typed": typed, "faults": error.fields if error else {}, "version": version, "stale": stale}  # fmt: skip
    return render(request, "runs/run_labels.html", context, status=422 if error else 200)
