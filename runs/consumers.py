"""The WebSockets of pages: what a browser is told, at its own pace.

A handler only adds to what waits; a task sends it, at most ten times a second. So a slow browser slows nobody,
and what waits for it stays bounded: beyond the bound it is told to ask the server again.
"""

import asyncio
import logging
import random
import time
from collections.abc import Mapping
from typing import Any

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError
from redis.exceptions import RedisError

from controlplane.common import access as rights
from controlplane.common import sign_ins
from controlplane.common.errors import SafeholdError
from controlplane.common.rights import READ
from runs import access, feeds, live
from runs.watching import RunWatch
from safehold.pacing import Pace

logger = logging.getLogger(__name__)
PACE_SECONDS = 0.1
ROW_PACE_SECONDS = 0.5
# A subscription names so many metrics at most; the page has fewer panels.
MAX_NAMES = 1000
CLOSED_SIGNED_OUT = 4401
# "Try again later" in the registry of RFC 6455: database or broker do not answer.
CLOSED_FOR_NOW = 1013
CLOSED_FORBIDDEN = 4403
# So long an open page may go on after its person was signed out, or lost the project.
RECHECK_SECONDS = 30.0


class PacedConsumer(AsyncWebsocketConsumer):
    """Keeps what its group is told and sends it, no more often than the pace."""

    # Channels' own subscription for each socket is not used; see runs.feeds.
    channel_layer_alias = "none"
    group = ""
    project_id = 0
    pace_seconds = PACE_SECONDS

    async def __call__(self, *given: Any) -> None:
        """Serve the socket; however it ends, it takes no messages afterwards."""
        self._tasks: list[asyncio.Task[None]] = []
        try:
            await super().__call__(*given)
        finally:
            for task in self._tasks:
                task.cancel()
            await feeds.leave(self.group, self.take_in)

    async def connect(self) -> None:
        self._poked = asyncio.Event()
        code = await self._follow()
        await self.accept()
        if code:
            await self.close(code=code)
            return
        self._tasks = [
            asyncio.create_task(each) for each in (self._send_paced(), self._check_again())
        ]

    async def _follow(self) -> int:
        """Have the messages of the group handed over; return why the socket is to be closed instead, else 0."""
        try:
            await database_sync_to_async(self.check)()
            await feeds.follow(self.group, self.take_in)
        except SafeholdError:
            is_known = self.scope["user"].is_authenticated
            return CLOSED_FORBIDDEN if is_known else CLOSED_SIGNED_OUT
        except (DatabaseError, RedisError, OSError):
            logger.exception("socket.closed_for_now", extra={"path": self.scope["path"]})
            return CLOSED_FOR_NOW
        return 0

    def check(self) -> None:
        """Name the group and the project; raise where the person may not see it. Runs in a thread."""
        raise NotImplementedError

    def add(self, message: Mapping[str, Any]) -> None:
        """Keep what a message of the group brings."""
        raise NotImplementedError

    def take(self) -> list[dict[str, Any]]:
        """Return the messages that are due and forget them."""
        raise NotImplementedError

    def take_in(self, message: Mapping[str, Any]) -> None:
        """Take a message of the group."""
        self.add(message)
        self._poked.set()

    async def _check_again(self) -> None:
        """Close the socket, with the reason, once its person may no longer look."""
        code = 0
        while not code:
            # Pages that came back together shall not all ask at once.
            await asyncio.sleep(RECHECK_SECONDS * random.uniform(0.5, 1.0))
            try:
                code = await database_sync_to_async(self._why_closed)()
            except (DatabaseError, RedisError, OSError):
                logger.warning("socket.not_checked", extra={"path": self.scope["path"]})
        await self.close(code=code)

    def _why_closed(self) -> int:
        user = sign_ins.person_of(self.scope)
        if user is None:
            return CLOSED_SIGNED_OUT
        return 0 if rights.may(user, self.project_id, READ) else CLOSED_FORBIDDEN

    async def _send_paced(self) -> None:
        pace = Pace(self.pace_seconds, most=round(1 / self.pace_seconds))
        while True:
            await self._poked.wait()
            if pause := pace.pause(time.monotonic()):
                await asyncio.sleep(pause)
            self._poked.clear()
            if messages := self.take():
                pace.take(time.monotonic())
            for message in messages:
                await self.send(text_data=orjson.dumps(message).decode())


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

    def add(self, message: Mapping[str, Any]) -> None:
        self.watch.add(message)


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

    def add(self, message: Mapping[str, Any]) -> None:
        for run_id, row in message["rows"].items():
            self.rows.setdefault(run_id, {}).update(row)
