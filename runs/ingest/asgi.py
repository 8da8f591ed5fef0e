"""The short way in: requests of training pods go past the middleware made for browsers.

They carry a token and no cookie, so session, CSRF, language and the rest have nothing to add; what they cost is
several times what storing a batch costs. Everything else goes on to Django.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import connection

from runs.ingest import door

PREFIX = "/api/v1/"
# Longer bodies are read only for a sender that is known.
TRUSTED_BYTES = 256 * 1024
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
# Django and Channels type these differently; both are ASGI applications.
Application = Callable[..., Awaitable[None]]


class Disconnected(Exception):
    """The sender went away before its request was whole."""


class IngestDoor:
    """An ASGI application in front of another one.

    Its threads keep one database connection each, so their number bounds what ingest takes of the database.
    """

    def __init__(self, application: Application) -> None:
        self.application = application
        self.threads = ThreadPoolExecutor(
            max_workers=settings.SAFEHOLD_INGEST_THREADS, thread_name_prefix="ingest"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for one of the ingest paths; pass on anything else."""
        path = scope.get("path", "").removeprefix(PREFIX)
        if scope["type"] != "http" or path not in door.paths() or scope["method"] != "POST":
            await self.application(scope, receive, send)
            return
        try:
            answer = await self._answered(_request(path, scope), receive, _length(scope))
        except Disconnected:
            return
        await _send(answer, send)

    async def _answered(
        self, request: door.Request, receive: Receive, length: int | None
    ) -> door.Answer:
        loop = asyncio.get_running_loop()
        # Strangers shall not make the server hold large bodies.
        if length is None or length > TRUSTED_BYTES:
            refusal = await loop.run_in_executor(self.threads, door.refusal, request)
            if refusal is not None:
                return refusal
        body = await _body(receive, settings.SAFEHOLD_INGEST_MAX_BYTES)
        if body is None:
            return door.too_large()
        return await loop.run_in_executor(self.threads, _answer, replace(request, body=body))


def _answer(request: door.Request) -> door.Answer:
    answer = door.answer(request)
    if answer.status == door.UNAVAILABLE:
        # The kept connection may be the one that broke; a batch may always be tried again.
        connection.close()
        answer = door.answer(request)
    return answer


def _request(path: str, scope: Scope) -> door.Request:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    return door.Request(
        path=path,
        authorization=headers.get(b"authorization", ""),
        content_type=headers.get(b"content-type", ""),
        content_encoding=headers.get(b"content-encoding", ""),
        body=b"",
    )


def _length(scope: Scope) -> int | None:
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() else None


async def _body(receive: Receive, limit_bytes: int) -> bytes | None:
    """Return the body, or None where it is too long."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit_bytes:
            return None
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _send(answer: door.Answer, send: Send) -> None:
    headers = [
        (b"content-type", answer.content_type.encode()),
        (b"content-length", str(len(answer.body)).encode()),
    ]
    if answer.retry_after_seconds is not None:
        headers.append((b"retry-after", str(answer.retry_after_seconds).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
