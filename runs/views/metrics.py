"""What the charts ask for: the same answers as the API's, for a person who is signed in."""

from dataclasses import asdict
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from runs import access
from runs import flags as flagging
from runs.forms.charts import ChartForm
from runs.services import metrics


@require_GET
def chart(request: HttpRequest, run_id: int) -> HttpResponse:
    run = access.run_for(caller(request), run_id)
    try:
        answer = metrics.read_chart(run=run, **ChartForm(request.GET).question())
    except ValueError as error:
        raise Invalid(str(error)) from error
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


@require_GET
def flags(request: HttpRequest, run_id: int) -> HttpResponse:
    """What is flagged on the curves: checkpoints and alerts."""
    run = access.run_for(caller(request), run_id)
    answer = {"flags": [asdict(flag) for flag in flagging.flags_of(run)]}
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


def chart_texts() -> dict[str, Any]:
    """Return the words that the scripts of charts need, in the language of the page."""
    return {"step": _("step {n}"), "tokens": _("{n} tokens"), "more": _("and {n} more")}
