"""Answering the requests of training pods, without a web framework: bytes in, bytes out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error as AnyDatabaseError

from controlplane.common.errors import SafeholdError
from runs.ingest import senders
from runs.ingest.senders import Sender
from runs.models import Attempt
from runs.services import attempts, ingest, logs, rendezvous
from safehold import wire

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
# Of an exit record; the wrapper keeps it within a Kubernetes termination message.
MAX_EXIT_BYTES = 64 * 1024
MAX_SOURCE_CHARACTERS = 40
# More than any Job has pods.
MAX_NODES = 100_000
RETRY_SECONDS = 2
UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class Request:
    """What came in.

    Attributes:
        path: What stands behind `/api/v1/`.
        authorization: The header, empty where missing.
    """

    path: str
    authorization: str
    content_type: str
    content_encoding: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes out."""

    status: int
    content_type: str
    body: bytes
    retry_after_seconds: int | None = None


Handler = Callable[[Request], Answer]
_routes: dict[str, Handler] = {}


def route(path: str) -> Callable[[Handler], Handler]:
    """Have a function answer the requests for a path; apps above this one add theirs when they start."""

    def register(handler: Handler) -> Handler:
        _routes[path] = handler
        return handler

    return register


def paths() -> tuple[str, ...]:
    """Return what stands behind `/api/v1/` in every request that comes in here."""
    return tuple(_routes)


def answer(request: Request) -> Answer:
    """Answer one request; a failure becomes a problem document, never an exception."""
    try:
        return _routes[request.path](request)
    except SafeholdError as error:
        return _problem(error.http_status, error.problem())
    except wire.WireError as error:
        return _wire_problem(error)
    except AnyDatabaseError as error:
        # The sender keeps its journal and comes again, so nothing is lost.
        logger.warning("ingest.database_error", extra={"path": request.path, "error": str(error)})
        return _unavailable()
    except Exception:
        logger.exception("ingest.failed", extra={"path": request.path})
        return _problem(
            500, SafeholdError("The server failed.", code="failed", http_status=500).problem()
        )


def refusal(request: Request) -> Answer | None:
    """Return the answer to a sender that may not send, before its body is read; else None."""
    try:
        sender_of(request)
    except SafeholdError as error:
        return _problem(error.http_status, error.problem())
    except AnyDatabaseError:
        return _unavailable()
    return None


def too_large() -> Answer:
    """Answer a request whose body was not even read."""
    limit = settings.SAFEHOLD_INGEST_MAX_BYTES
    return _wire_problem(wire.TooLarge("body", f"more than {limit} bytes"))


@route("ingest")
def _batch(request: Request) -> Answer:
    sender = sender_of(request)
    _check_size(request)
    batch = wire.decode(request.body, request.content_type, request.content_encoding)
    is_whole = batch.form == "msgpack" and not batch.refused
    result = ingest.store(sender=sender, batch=batch, payload=request.body if is_whole else None)
    is_json = wire.is_json(request.content_type)
    content_type = wire.CONTENT_JSON if is_json else wire.CONTENT_MSGPACK
    return Answer(200, content_type, wire.encode_ack(result.ack, content_type))


@route("ingest/logs")
def _log(request: Request) -> Answer:
    sender, data = sender_of(request), map_of(request)
    source, text, offset = _source(data), data.get("data", b""), data.get("offset")
    if isinstance(text, str):
        text = text.encode(errors="replace")
    if not isinstance(text, bytes):
        raise wire.WireError("data", f"must be text or bytes, not {type(text).__name__}")
    if len(text) > wire.MAX_LOG_BYTES:
        raise wire.TooLarge("data", f"{len(text)} bytes; at most {wire.MAX_LOG_BYTES} at once")
    if type(offset) is not int or not 0 <= offset < 2**62:
        raise wire.WireError("offset", f"must be a byte offset, not {offset!r:.80}")
    attempt = Attempt.objects.get(pk=sender.attempt_id)
    return reply(
        request,
        {"v": 1, "next": logs.append_log(attempt=attempt, source=source, offset=offset, data=text)},
    )


@route("ingest/exit")
def _exit(request: Request) -> Answer:
    sender, data = sender_of(request), map_of(request)
    record = data.get("exit")
    if not isinstance(record, dict):
        raise wire.WireError("exit", "must be the map of exit.json")
    tidied = wire.tidy(record, "exit")
    if len(json.dumps(tidied)) > MAX_EXIT_BYTES:
        raise wire.TooLarge("exit", f"more than {MAX_EXIT_BYTES} bytes")
    attempt = Attempt.objects.get(pk=sender.attempt_id)
    node = data.get("node", 0)
    if type(node) is not int or not 0 <= node < MAX_NODES:
        raise wire.WireError("node", f"must be the rank of a node, not {node!r:.80}")
    attempts.record_exit(attempt=attempt, exit=tidied, node=node)
    return reply(request, {"v": 1})


@route("ingest/rendezvous")
def _rendezvous(request: Request) -> Answer:
    """Keep where the nodes of an attempt meet, when told; say where it is, as far as it is known."""
    sender, data = sender_of(request), map_of(request)
    attempt = Attempt.objects.select_related("run").get(pk=sender.attempt_id)
    if "address" in data:
        place = rendezvous.Place.checked(data["address"], data.get("port"))
        rendezvous.publish(attempt=attempt, place=place)
    found = rendezvous.find(attempt=attempt)
    told = {"address": found.address, "port": found.port} if found else {}
    return reply(request, {"v": 1} | told)


def sender_of(request: Request) -> Sender:
    """Return who sends, by the token of the attempt.

    Raises:
        SafeholdError: Nobody whom we know, or no longer.
    """
    scheme, _, token = request.authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise senders.UnknownToken(
            "The request carries no token.", hint="Send `Authorization: Bearer <attempt token>`."
        )
    return senders.sender_of(token.strip())


def _check_size(request: Request) -> None:
    limit = settings.SAFEHOLD_INGEST_MAX_BYTES
    if len(request.body) > limit:
        raise wire.TooLarge("body", f"{len(request.body)} bytes; at most {limit} are taken")


def map_of(request: Request) -> dict[str, Any]:
    """Return the map that was sent.

    Raises:
        WireError: It is none, is too large, or of a version that we do not read.
    """
    _check_size(request)
    data = wire.read_map(request.body, request.content_type, request.content_encoding)
    if data.get("v") not in wire.SUPPORTED:
        raise wire.UnsupportedVersion(data.get("v"), wire.SUPPORTED)
    return data


def _source(data: Mapping[str, Any]) -> str:
    source = data.get("source")
    if not isinstance(source, str) or not 0 < len(source) <= MAX_SOURCE_CHARACTERS:
        raise wire.WireError("source", f"must be 1 to {MAX_SOURCE_CHARACTERS} characters")
    if wire.name_problem(source):
        raise wire.WireError("source", wire.name_problem(source) or "")
    return source


def reply(request: Request, data: Mapping[str, Any]) -> Answer:
    """Return an answer in the encoding of the request."""
    is_json = wire.is_json(request.content_type)
    content_type = wire.CONTENT_JSON if is_json else wire.CONTENT_MSGPACK
    return Answer(200, content_type, wire.write_map(data, content_type))


def _wire_problem(error: wire.WireError) -> Answer:
    status, facts = wire.problem_of(error)
    kind = facts.pop("type")
    document = {
        "type": f"urn:safehold:problem:{kind}",
        "title": kind.replace("-", " ").capitalize(),
        "status": status,
    }
    return _problem(status, document | facts)


def _problem(status: int, document: Mapping[str, Any]) -> Answer:
    return Answer(status, PROBLEM, json.dumps(document).encode())


def _unavailable() -> Answer:
    error = SafeholdError(
        "The database cannot be reached; send the batch again.",
        code="unavailable",
        http_status=UNAVAILABLE,
    )
    body = json.dumps(error.problem()).encode()
    return Answer(UNAVAILABLE, PROBLEM, body, retry_after_seconds=RETRY_SECONDS)
