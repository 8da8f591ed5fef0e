"""What the charts ask for: the same answers as the API's, for a person who is signed in."""

from dataclasses import asdict
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from controlplane.common.sentences import sentence
from controlplane.common.streams import download
from runs import access, exports
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
    found = [asdict(flag) for flag in flagging.flags_of(run)]
    answer = {"flags": [flag | {"text": sentence(flag["text"])} for flag in found]}
    return HttpResponse(orjson.dumps(answer), content_type="application/json")


@require_GET
def export(request: HttpRequest, run_id: int) -> StreamingHttpResponse:
    """All points of a run, or of the metrics that are named, as a file."""
    run = access.run_for(caller(request), run_id)
    names = [name for name in request.GET.getlist("names") if "\x00" not in name]
    file = exports.export_of(run=run, format=request.GET.get("format", "csv"), names=names)
    return download(request, file.parts, file_name=file.file_name, content_type=file.content_type)


def chart_texts() -> dict[str, Any]:
    """Return the words that the scripts of charts need, in the language of the page."""
    return {"step": _("step {n}"), "tokens": _("{n} tokens"), "more": _("and {n} more")}
