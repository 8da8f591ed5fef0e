"""Preflight of a run: that of its config."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Status

from controlplane.common.api import Input, caller, once
from controlplane.common.errors import NotFound
from runs import access
from runs.api.schemas import ReportOut
from runs.api.shapes import report_shape
from runs.services import preflight

router = Router(tags=["preflight"])


class NothingIn(Input):
    """No settings."""


@router.post(
    "/{run_id}/preflight", response={201: ReportOut}, summary="Run the checks of a run's config"
)
def check(request: HttpRequest, run_id: int, body: NothingIn | None = None) -> Any:
    """Run all checks of the run's config."""
    user = caller(request)
    run = access.run_for(user, run_id, change=True)

    def make() -> dict[str, Any]:
        return report_shape(preflight.request(config=run.config, user=user))

    return Status(201, once(request, make))


@router.get("/{run_id}/preflight", response=ReportOut, summary="Show the newest preflight report")
def newest_report(request: HttpRequest, run_id: int) -> Any:
    """Show the newest report on the run's config."""
    run = access.run_for(caller(request), run_id)
    report = run.config.preflight_reports.order_by("-pk").first()
    if report is None:
        raise NotFound(_("Config %(id)s was never checked.") % {"id": run.config_id})
    return report_shape(report)
