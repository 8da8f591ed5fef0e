"""A small real HTTP server that takes batches, logs, ends and registrations as the wire says.

It keeps every record by itself, so a test can say: each one, once. Faults are scripted: one word for
each coming request.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from safehold import wire

Fault = Literal[
    "ok", "lose_request", "lose_answer", "503", "429", "400", "401", "403", "413", "html"
]


class LogGap(Exception):
    """A piece of a log begins beyond what is here."""


@dataclass
class Held:
    """What the server has stored."""

    acked: dict[str, int] = field(default_factory=dict)
    records: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    heartbeats: list[wire.Heartbeat] = field(default_factory=list)
    applied: list[wire.Applied] = field(default_factory=list)
    commands: list[wire.Command] = field(default_factory=list)
    registrations: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[str, bytes] = field(default_factory=dict)
    exits: list[dict[str, Any]] = field(default_factory=list)
    rendezvous: dict[str, Any] = field(default_factory=dict)
    num_requests: int = 0


class IngestServer:
    """Listens on a free port of this machine until stopped."""

    def __init__(self, token: str = "token") -> None:
        self.token = token
        self.held = Held()
        self.faults: deque[Fault] = deque()
        self.away: Fault | None = None
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def start(self) -> IngestServer:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def steps(self, journal: str | None = None) -> list[int]:
        """Steps of all records, in order of number."""
        held = sorted(self.held.records.items())
        return [r["step"] for (name, _), r in held if journal in (None, name)]

    def values(self, name: str) -> list[float]:
        held = sorted(self.held.records.items())
        return [record["values"][name] for _, record in held if name in record["values"]]

    def events(self, kind: str) -> list[dict[str, Any]]:
        held = sorted(self.held.records.items())
        return [data for _, r in held for k, data in r["events"] if k == kind]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        with self.lock:
            self.held.num_requests += 1
            fault = self.away or (self.faults.popleft() if self.faults else "ok")
            if fault == "lose_request":
                request.close_connection = True
                return
            status, answer = self._judged(fault, request, body)
        if fault == "lose_answer":
            request.close_connection = True
            return
        kind = request.headers["Content-Type"] if status == 200 else "application/problem+json"
        packed = b"<html>" if fault == "html" else wire.write_map(answer, kind)
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(packed)))
        request.end_headers()
        request.wfile.write(packed)

    def _judged(
        self, fault: Fault, request: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, dict[str, Any]]:
        if fault.isdigit():
            return int(fault), {"detail": fault}
        if request.headers["Authorization"] != f"Bearer {self.token}":
            return 401, {"detail": "unknown token"}
        routes: dict[str, Callable[[BaseHTTPRequestHandler, bytes], dict[str, Any]]] = {
            "/api/v1/ingest": self._ingest,
            "/api/v1/ingest/logs": self._log,
            "/api/v1/ingest/exit": self._exit,
            "/api/v1/ingest/rendezvous": self._rendezvous,
            "/api/v1/checkpoints/register": self._register,
        }
        try:
            return 200, routes[request.path](request, body)
        except wire.WireError as error:
            return wire.problem_of(error)
        except LogGap as gap:
            return 409, {"type": "gap", "next": gap.args[0]}

    def _ingest(self, request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
        headers = request.headers
        batch = wire.decode(body, headers["Content-Type"], headers.get("Content-Encoding", ""))
        held = self.held
        new = wire.unseen(batch, held.acked.get(batch.journal))
        for i, record in enumerate(plain_records(new)):
            key = (new.journal, new.first_seq + i)
            assert key not in held.records, f"{key} came twice"
            held.records[key] = record
        held.acked[new.journal] = max(held.acked.get(new.journal, 0), new.last_seq if new.n else 0)
        held.ranks[new.journal] = batch.rank
        if batch.heartbeat:
            held.heartbeats.append(batch.heartbeat)
        held.applied += batch.applied
        done = {a.id for a in held.applied}
        return wire.Ack(
            acked=held.acked[new.journal],
            records=new.n,
            stored=new.num_points,
            refused=new.refused,
            commands=tuple(c for c in held.commands if c.id not in done and batch.rank == 0),
            server_time=time.time_ns() // 10**6,
        ).to_dict()

    def _log(self, request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
        data = wire.read_map(
            body, request.headers["Content-Type"], request.headers.get("Content-Encoding", "")
        )
        have = self.held.logs.get(data["source"], b"")
        if data["offset"] > len(have):
            raise LogGap(len(have))
        new = data["data"][len(have) - data["offset"] :]
        self.held.logs[data["source"]] = have + new
        return {"next": len(have) + len(new)}

    def _exit(self, request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
        self.held.exits.append(wire.read_map(body, request.headers["Content-Type"]))
        return {}

    def _rendezvous(self, request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
        told = wire.read_map(body, request.headers["Content-Type"])
        self.held.rendezvous |= {k: told[k] for k in ("address", "port") if k in told}
        return {"v": 1, **self.held.rendezvous}

    def _register(self, request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
        self.held.registrations.append(json.loads(body))
        return {"id": len(self.held.registrations), "state": "complete"}


def plain_records(batch: wire.Batch) -> list[dict[str, Any]]:
    """Records as plain maps of step, tokens, time, values and events."""
    records: list[dict[str, Any]] = [
        {"step": s, "tokens": t, "time": at, "values": {}, "events": []}
        for s, t, at in zip(
            batch.steps.tolist(), batch.tokens.tolist(), batch.times.tolist(), strict=True
        )
    ]
    for column in batch.columns:
        index = range(batch.n) if column.index is None else column.index.tolist()
        for i, value in zip(index, column.values.tolist(), strict=True):
            records[i]["values"][column.name] = value
    for event in batch.events:
        records[event.i]["events"].append((event.kind, event.data))
    return records


@contextmanager
def ingest_server() -> Iterator[IngestServer]:
    server = IngestServer().start()
    try:
        yield server
    finally:
        server.stop()
