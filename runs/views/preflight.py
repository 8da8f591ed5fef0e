"""Preflight reports: the list, one report with its progress, asking for one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from controlplane.common.access import may
from controlplane.common.api import caller
from runs import access, listings, reports
from runs.models import PreflightReport
from runs.services import preflight
from runs.views.projects import current_project


@require_GET
def report_list(request: HttpRequest) -> HttpResponse:
    project = current_project(request)
    if project is None:
        return render(request, "runs/no_project.html")
    found = PreflightReport.objects.filter(config__project=project).select_related(
        "config", "requested_by"
    )
    page = listings.page_of(found, cursor=request.GET.get("cursor", ""))
    return render(request, "runs/preflight_list.html", {"page": page})


@require_GET
def report_page(request: HttpRequest, report_id: int) -> HttpResponse:
    report = access.report_for(caller(request), report_id)
    can_change = may(caller(request), report.config.project_id, "preflight.request")
    context = reports.context(report) | {"can_change": can_change}
    return render(request, "runs/preflight_report.html", context)


@require_GET
def report_body(request: HttpRequest, report_id: int) -> HttpResponse:
    """The findings alone: an open page asks again while the checks run."""
    report = access.report_for(caller(request), report_id)
    return render(request, "runs/_preflight_body.html", reports.context(report))


@require_POST
def request_preflight(request: HttpRequest, config_id: int) -> HttpResponse:
    config = access.config_for(caller(request), config_id, change=True)
    report = preflight.request(config=config, user=caller(request))
    return redirect("runs:preflight_report", report.pk)
