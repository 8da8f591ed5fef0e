"""What the charts ask for: the same answer as the API's, for a person who is signed in."""

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from runs import access
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
