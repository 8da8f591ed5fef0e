"""The WebSockets of pages: what a browser is told, at its own pace.

A handler only adds to what waits; a task sends it, at most ten times a second. So a slow browser slows nobody,
and what waits for it stays bounded: beyond the bound it is told to ask the server again.
"""

import asyncio
import time
from typing import Any

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from controlplane.common import access as rights
from controlplane.common import sign_ins
from controlplane.common.errors import SafeholdError
from controlplane.common.rights import READ
from runs import access, live
from runs.watching import RunWatch

# Twice that of the bundles, so that a point waits for one turn, not for two.
PACE_SECONDS = 0.1
ROW_PACE_SECONDS = 0.5
# A subscription names so many metrics at most; the page has fewer panels.
MAX_NAMES = 1000
CLOSED_SIGNED_OUT = 4401
CLOSED_FORBIDDEN = 4403
# So long an open page may go on after its person was signed out, or lost the project.
RECHECK_SECONDS = 30.0


class PacedConsumer(AsyncWebsocketConsumer):
    """Sends what `take()` gives, no more often than the pace; `poke()` says that there is something."""

    group = ""
    project_id = 0
    pace_seconds = PACE_SECONDS

    async def connect(self) -> None:
        self._poked = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        try:
            await database_sync_to_async(self.check)()
        except SafeholdError:
            is_known = self.scope["user"].is_authenticated
            await self.accept()
            await self.close(code=CLOSED_FORBIDDEN if is_known else CLOSED_SIGNED_OUT)
            return
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        self._tasks = [
            asyncio.create_task(each) for each in (self._send_paced(), self._check_again())
        ]

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    def check(self) -> None:
        """Name the group and the project; raise where the person may not see it. Runs in a thread."""
        raise NotImplementedError

    def take(self) -> list[dict[str, Any]]:
        """Return the messages that are due and forget them."""
        raise NotImplementedError

    def poke(self) -> None:
        self._poked.set()

    async def _check_again(self) -> None:
        """Close the socket, with the reason, once its person may no longer look."""
        code = 0
        while not code:
            await asyncio.sleep(RECHECK_SECONDS)
            code = await database_sync_to_async(self._why_closed)()
        await self.close(code=code)

    def _why_closed(self) -> int:
        user = sign_ins.person_of(self.scope)
        if user is None:
            return CLOSED_SIGNED_OUT
        return 0 if rights.may(user, self.project_id, READ) else CLOSED_FORBIDDEN

    async def _send_paced(self) -> None:
        while True:
            await self._poked.wait()
            self._poked.clear()
            begun = time.monotonic()
            for message in self.take():
                await self.send(text_data=orjson.dumps(message).decode())
            await asyncio.sleep(max(0.0, begun + self.pace_seconds - time.monotonic()))


class RunConsumer(PacedConsumer):
    """`/ws/runs/<id>/`: one run, the chosen metrics."""

    def check(self) -> None:
        run = access.run_for(self.scope["user"], self.scope["url_route"]["kwargs"]["run_id"])
        self.group, self.project_id = live.run_group(run.pk), run.project_id
        self.watch = RunWatch()

    def take(self) -> list[dict[str, Any]]:
        return self.watch.take()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            wanted = orjson.loads(text_data or "null")
        except orjson.JSONDecodeError:
            wanted = None
        names = wanted.get("names") if isinstance(wanted, dict) else None
        if not isinstance(names, list) or len(names) > MAX_NAMES:
            await self.send(text_data='{"kind":"error","message":"Send {\\"names\\": [...]}."}')
            return
        self.watch.names = frozenset(name for name in names if isinstance(name, str))

    async def run_bundle(self, message: dict[str, Any]) -> None:
        self.watch.add(message)
        self.poke()


class ProjectConsumer(PacedConsumer):
    """`/ws/projects/<id>/`: the changed rows of the lists of a project."""

    pace_seconds = ROW_PACE_SECONDS

    def check(self) -> None:
        self.project_id = self.scope["url_route"]["kwargs"]["project_id"]
        rights.require(self.scope["user"], self.project_id, READ)
        self.group = live.project_group(self.project_id)
        self.rows: dict[str, dict[str, Any]] = {}

    def take(self) -> list[dict[str, Any]]:
        rows, self.rows = self.rows, {}
        return [{"kind": "rows", "rows": rows}] if rows else []

    async def project_bundle(self, message: dict[str, Any]) -> None:
        for run_id, row in message["rows"].items():
            self.rows.setdefault(run_id, {}).update(row)
        self.poke()
