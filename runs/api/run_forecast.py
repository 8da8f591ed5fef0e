"""What a run is held against, and what it can expect."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from controlplane.common.api import caller
from runs import access, run_forecast

router = Router(tags=["runs"])


@router.get("/{run_id}/forecast", response=dict[str, Any], summary="Forecast and acceptance")
def forecast(request: HttpRequest, run_id: int) -> Any:
    """Return acceptance metric by metric, the start held against ln(V), and the forecast of what is left."""
    return run_forecast.document_of(access.run_for(caller(request), run_id))
