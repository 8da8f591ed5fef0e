"""The short way in: past the middleware, over any other path on to Django."""

import asyncio
from typing import Any

import pytest
from django.db import OperationalError, connections

from runs.ingest import door, senders
from runs.ingest.asgi import IngestDoor
from runs.models import Attempt
from runs.services import ingest
from safehold import wire
from tests.factories import make_attempt
from tests.runs.ingest.posting import make_batch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def attempt(settings: Any) -> Attempt:
    settings.SAFEHOLD_INGEST_THREADS = 1
    senders.forget_all()
    return make_attempt(state="running")


async def behind(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": b"behind"})


def ask(
    *parts: bytes, path: str = "ingest", token: str = "", method: str = "POST"
) -> tuple[int, dict, bytes]:
    """Send a request in parts and return status, headers and body."""
    sent: list[dict[str, Any]] = []
    waiting = [
        {"type": "http.request", "body": part, "more_body": at < len(parts)}
        for at, part in enumerate(parts, start=1)
    ] or [{"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [
        (b"authorization", f"Bearer {token}".encode()),
        (b"content-type", wire.CONTENT_MSGPACK.encode()),
    ]
    scope = {"type": "http", "method": method, "path": f"/api/v1/{path}", "headers": headers}
    entry = IngestDoor(behind)
    try:
        asyncio.run(entry(scope, receive, send))
    finally:
        entry.threads.submit(connections.close_all).result(10)
        entry.threads.shutdown()
    if not sent:
        return 0, {}, b""
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_a_batch_in_pieces_is_stored(attempt: Attempt) -> None:
    body = wire.encode(make_batch(3))
    status, headers, answer = ask(body[:50], body[50:], token=attempt.token)
    assert status == 200
    assert headers[b"content-type"] == wire.CONTENT_MSGPACK.encode()
    assert wire.decode_ack(answer).acked == 3


def test_a_registration_goes_the_same_way(attempt: Attempt) -> None:
    """Whatever address the pods know: neither its name nor http is held against them here."""
    status, _, answer = ask(
        wire.write_map({"v": 1}, wire.CONTENT_MSGPACK),
        path="checkpoints/register",
        token=attempt.token,
    )
    assert (status, b"`state` is None" in answer) == (422, True)


def test_other_paths_and_methods_go_on_to_django(attempt: Attempt) -> None:
    assert ask(b"", path="runs")[0] == 299
    assert ask(b"", method="GET")[0] == 299


def test_a_body_beyond_the_limit_is_not_even_held(attempt: Attempt, settings: Any) -> None:
    settings.SAFEHOLD_INGEST_MAX_BYTES = 100
    status, headers, _ = ask(b"x" * 60, b"x" * 60, token=attempt.token)
    assert (status, headers[b"content-type"]) == (413, door.PROBLEM.encode())


def test_the_body_of_a_stranger_is_not_even_read(attempt: Attempt) -> None:
    status, _, answer = ask(token="sha_of-nobody")  # reading would find the sender gone
    assert (status, b"token-unknown" in answer) == (401, True)


def test_a_sender_that_goes_away_gets_no_answer(attempt: Attempt) -> None:
    assert ask(token=attempt.token) == (0, {}, b"")


def test_a_connection_that_broke_is_replaced_and_the_batch_stored_once(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = ingest.store, []

    def store(**given: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError("server closed the connection")
        return real(**given)

    monkeypatch.setattr(ingest, "store", store)
    status, _, answer = ask(wire.encode(make_batch(3)), token=attempt.token)
    assert (status, wire.decode_ack(answer).stored, len(calls)) == (200, 3, 2)


def test_without_a_database_the_sender_is_asked_to_come_again(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def store(**given: Any) -> Any:
        raise OperationalError("no database")

    monkeypatch.setattr(ingest, "store", store)
    status, headers, _ = ask(wire.encode(make_batch(3)), token=attempt.token)
    assert (status, headers[b"retry-after"]) == (503, b"2")
