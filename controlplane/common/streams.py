"""Answers that are sent while they are made, so that a large one never lies in memory as a whole."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.text import get_valid_filename


def download(
    request: HttpRequest, parts: Iterator[bytes], *, file_name: str, content_type: str
) -> StreamingHttpResponse:
    """Return an answer that a browser saves as a file.

    Args:
        request: Says which kind of server asks.
        parts: Made one after another, each in a thread of the request, while the one before is sent.
        file_name: As people named it; what a file cannot be called is left out.
        content_type: Of the whole.
    """
    # A plain iterator would be read to its end before the first byte goes out.
    content = _pulled(parts) if isinstance(request, ASGIRequest) else parts
    response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{_plain(file_name)}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


async def _pulled(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    pull = sync_to_async(_next)
    while (part := await pull(parts)) is not None:
        yield part


def _next(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)


def _plain(name: str) -> str:
    text = get_valid_filename(name.encode("ascii", "ignore").decode() or "_")
    return text.lstrip(".") or "download"
