"""The page of a run: a header that answers at once, and its parts, each with an address of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from controlplane.common.access import may, role_of
from controlplane.common.api import caller
from controlplane.common.models import Role
from runs import access, acts, dashboard, reports, run_forecast, run_proof, run_table
from runs import timeline as timelines
from runs.models import Run, Sight
from runs.services import launcher_choice, metrics
from runs.views.metrics import chart_texts


@dataclass(frozen=True)
class Tab:
    """One part of the page."""

    name: str
    title: str | Promise
    href: str = ""


_TABS = (
    ("run_detail", "live", _("Live")),
    ("run_timeline", "timeline", _("Timeline")),
    ("run_attempts", "attempts", _("Attempts")),
    ("run_logs", "logs", _("Logs")),
    ("run_checkpoints", "checkpoints", _("Checkpoints")),
    ("run_proof", "proof", _("Config & proof")),
)


@require_GET
@vary_on_headers("HX-Request")
def live(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    names = metrics.list_names(run)
    context = {
        "dashboard": dashboard.dashboard(names),
        "num_names": len(names),
        "metrics_url": reverse("runs:run_metrics", args=[run.pk]),
        "chart_texts": chart_texts(),
        "has_parquet": find_spec("pyarrow") is not None,
    }
    return page(request, run, "live", context)


@require_GET
@vary_on_headers("HX-Request")
def timeline(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    kind, cursor = request.GET.get("kind", ""), request.GET.get("cursor", "")
    return page(request, run, "timeline", timelines.context(run, kind=kind, cursor=cursor))


@require_GET
@vary_on_headers("HX-Request")
def attempts(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    return page(
        request,
        run,
        "attempts",
        {"attempts": run.attempts.select_related("sight").order_by("-number")},
    )


@require_GET
@vary_on_headers("HX-Request")
def checkpoints(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    return page(
        request, run, "checkpoints", {"of_run_url": reverse("checkpoints:of_run", args=[run.pk])}
    )


@require_GET
@vary_on_headers("HX-Request")
def proof(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    newest = run.attempts.select_related("sight").order_by("-number").first()
    report = run.config.preflight_reports.order_by("-pk").first()
    may_act = may(caller(request), run.project_id, "preflight.request")
    context = {"attempt": newest, "report": report, "config": run.config, "may_act": may_act}
    context |= run_proof.context(run, newest)
    return page(request, run, "proof", context | run_forecast.context(run))


@require_GET
def header(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    return render(request, "runs/_run_header.html", header_context(request, run))


def page(request: HttpRequest, run: Run, tab: str, context: Mapping[str, Any]) -> HttpResponse:
    """Answer the whole page, or just the tabs when one is changed in the page."""
    tabs = [Tab(name, title, reverse(f"runs:{view}", args=[run.pk])) for view, name, title in _TABS]
    everything = {**context, "run": run, "tab": tab, "tabs": tabs, "part": f"runs/_tab_{tab}.html"}
    htmx = getattr(request, "htmx", None)
    if htmx and not htmx.history_restore_request:
        (row,) = run_table.rows_of([run])
        return render(request, "runs/_run_tab.html", {**everything, "row": row})
    return render(request, "runs/run_page.html", {**everything, **header_context(request, run)})


def header_context(
    request: HttpRequest, run: Run, *, refused: str = "", waiver: str = ""
) -> dict[str, Any]:
    """Return what the header says about the run now, with what was refused and what was typed to waive it."""
    (row,) = run_table.rows_of([run])
    role = role_of(caller(request), run.project_id)
    fork_href = reverse("runs:run_checkpoints", args=[run.pk])
    offered = acts.acts_of(row, role=role, fork_href=fork_href)
    return {
        "row": row,
        "acts": offered,
        "waivable": reports.waivable(run) if any(act.slug == "launch" for act in offered) else None,
        "waiver": waiver,
        "next_text": acts.next_of(row),
        "num_names": len(metrics.list_names(run)),
        "drift": _drift(row),
        "refused": refused,
        "may_label": role is not None and role >= Role.OPERATOR,
        "may_delete": role is not None and role >= Role.ADMIN,
        "retention_days": settings.SAFEHOLD_RUN_RETENTION_DAYS,
    }


def _drift(row: run_table.RunRow) -> list[dict[str, Any]]:
    """Return where what runs differs from what was launched; what has ended differs from nothing any more."""
    if row.attempt is None or row.attempt.is_over or row.run.launcher == launcher_choice.LOCAL:
        return []
    found = Sight.objects.filter(attempt=row.attempt).values_list("drift", flat=True).first()
    return list(found or [])
