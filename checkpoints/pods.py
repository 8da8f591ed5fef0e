"""What pods call: registering a save, with the token of their attempt."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from checkpoints.services import registry
from controlplane.common.errors import Invalid, SafeholdError
from runs.ingest import senders
from runs.models import Attempt
from safehold import wire

_RETRY_SECONDS = 2


@csrf_exempt
@login_not_required
@require_POST
def register(request: HttpRequest) -> HttpResponse:
    """Register one save; the same again answers the same. docs/reference/wire.md has the body."""
    try:
        attempt = _attempt(request)
        body = _body(request)
        checkpoint = registry.register(
            attempt=attempt,
            path=body.get("path"),
            manifest=body.get("manifest"),
            state=body.get("state"),
            error=_text(body.get("error")),
        )
    except SafeholdError as error:
        return _problem(error)
    except DatabaseError:  # the sender keeps it and comes again
        response = _problem(
            SafeholdError("The database cannot be reached.", code="unavailable", http_status=503)
        )
        response["Retry-After"] = str(_RETRY_SECONDS)
        return response
    return JsonResponse({"v": 1, "id": checkpoint.pk, "state": checkpoint.state})


def _attempt(request: HttpRequest) -> Attempt:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise senders.UnknownToken(
            "The request carries no token.", hint="Send `Authorization: Bearer <attempt token>`."
        )
    return Attempt.objects.get(pk=senders.sender_of(token.strip()).attempt_id)


def _body(request: HttpRequest) -> dict[str, Any]:
    try:
        content = request.body
    except RequestDataTooBig as error:
        raise SafeholdError("The body is too large.", code="too-large", http_status=413) from error
    headers = request.headers
    try:
        body = wire.read_map(
            content, headers.get("Content-Type", ""), headers.get("Content-Encoding", "")
        )
    except wire.WireError as error:
        status, facts = wire.problem_of(error)
        raise SafeholdError(str(error), code=str(facts["type"]), http_status=status) from error
    if body.get("v") not in wire.SUPPORTED:
        raise SafeholdError(
            f"Version {body.get('v')!r:.40} of the wire is not supported; supported: "
            f"{', '.join(map(str, wire.SUPPORTED))}.",
            code="wire-version",
        )
    return body


def _text(error: object) -> str | None:
    if error is not None and not isinstance(error, str):
        raise Invalid("`error` must be text.", fields={"error": ["must be text"]})
    return error


def _problem(error: SafeholdError) -> HttpResponse:
    return JsonResponse(
        error.problem(), status=error.http_status, content_type="application/problem+json"
    )
