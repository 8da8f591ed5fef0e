"""What holds for every request: an id, a content policy, and one way of telling an error."""

import uuid
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from controlplane.common.errors import OnlySent, SafeholdError
from controlplane.common.logs import request_id

GetResponse = Callable[[HttpRequest], HttpResponse]

# uPlot and htmx need no inline script; styles set by script through the CSSOM are not inline styles.
_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
)


class RequestId:
    """Gives each request an id that its log lines and its answer carry."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Number the request."""
        value = uuid.uuid4().hex[:16]
        mark = request_id.set(value)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(mark)
        response["X-Request-Id"] = value
        return response


class ContentSecurityPolicy:
    """Lets pages load scripts and styles from this origin only."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the policy unless the view set its own."""
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", _POLICY)
        return response


class ErrorAnswers:
    """Turns a `SafeholdError` into a problem document, a fragment or a page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass; errors are answered by `process_exception`, and the blank page after a form's reload here."""
        response = self.get_response(request)
        is_refused = response.status_code == HTTPStatus.METHOD_NOT_ALLOWED
        if not is_refused or request.method != "GET" or _is_api(request):
            return response
        hint = _("Go back and press it again.")
        error = OnlySent(_("This address only takes what a button sends."), hint=hint)
        answer = _told(request, error)
        answer["Allow"] = response["Allow"]
        return answer

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer an expected failure; anything else stays an exception."""
        if not isinstance(error, SafeholdError):
            return None
        if _is_api(request):
            return JsonResponse(
                error.problem(), status=error.http_status, content_type="application/problem+json"
            )
        return _told(request, error)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _told(request: HttpRequest, error: SafeholdError) -> HttpResponse:
    is_htmx = bool(getattr(request, "htmx", False))
    template = "_error.html" if is_htmx else "error.html"
    return render(request, template, {"error": error}, status=error.http_status)
