"""The way in through Django, which the tests and any other server take."""

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from runs.ingest import door


@csrf_exempt
@login_not_required
@require_POST
def ingest(request: HttpRequest, path: str) -> HttpResponse:
    headers: Any = request.headers
    try:
        body = request.body
    except RequestDataTooBig:
        return _response(door.too_large())
    return _response(_answer(path, headers, body))


def _answer(path: str, headers: Any, body: bytes) -> door.Answer:
    return door.answer(
        door.Request(
            path=path,
            authorization=headers.get("Authorization", ""),
            content_type=headers.get("Content-Type", ""),
            content_encoding=headers.get("Content-Encoding", ""),
            body=body,
        )
    )


def _response(answer: door.Answer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status, content_type=answer.content_type)
    if answer.retry_after_seconds is not None:
        response["Retry-After"] = str(answer.retry_after_seconds)
    return response
