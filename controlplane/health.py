"""Whether this process is alive and the service is ready."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that the process is alive."""
    return HttpResponse("ok", content_type="text/plain")


@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer whether the service can do its work."""
    return JsonResponse({"ready": True})
