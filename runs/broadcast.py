"""The thread that sends notes to channel groups: bundled, paced, and deaf to a broker's troubles."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

from channels.layers import get_channel_layer

from runs.bundles import Note, bundle

logger = logging.getLogger(__name__)

# Notes kept for one group between two sendings; older ones are dropped, which readers notice by their numbers.
MAX_NOTES = 500
MAX_GROUPS = 20_000
SEND_TIMEOUT_SECONDS = 2.0
# "over capacity" and "not sent" are told at most so often, with a count.
COMPLAIN_SECONDS = 60.0


@dataclass(slots=True, eq=False)
class _Group:
    """What waits to be sent to one group, and when the next sending is allowed."""

    message_type: str
    pace_seconds: float
    notes: deque[Note] = field(default_factory=lambda: deque(maxlen=MAX_NOTES))
    next_at: float = 0.0


class Broadcaster:
    """Collects notes from any thread and sends them from one of its own, started when first needed.

    A forked process gets a thread of its own: threads do not survive a fork.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[str, _Group] = {}
        self._due: set[str] = set()
        # Set by the thread once its loop runs; until then nobody has to wake it.
        self._wake: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._pid = 0
        self._dropped = 0
        self._failed = 0
        self._complained_at = 0.0
        self.num_sent = 0

    def put(self, group: str, message_type: str, note: Note, pace_seconds: float) -> None:
        """Leave a note for a group; returns at once."""
        with self._lock:
            held = self._groups.get(group)
            if held is None:
                held = self._groups[group] = _Group(message_type, pace_seconds)
            if len(held.notes) == MAX_NOTES:
                self._dropped += 1
            held.notes.append(note)
            is_news = group not in self._due
            self._due.add(group)
            self._ensure_thread()
            wake = self._wake
        # Waking costs a system call; of a group that waits already the thread knows.
        if is_news and wake is not None:
            wake[0].call_soon_threadsafe(wake[1].set)

    def _ensure_thread(self) -> None:
        if self._pid != os.getpid():
            self._pid, self._wake = os.getpid(), None
            threading.Thread(target=self._run, name="live", daemon=True).start()

    def _run(self) -> None:
        asyncio.run(self._send_forever())

    async def _send_forever(self) -> None:
        woken = asyncio.Event()
        with self._lock:
            self._wake = (asyncio.get_running_loop(), woken)
        while True:
            woken.clear()
            pause = await self._send_due()
            self._complain()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await woken.wait()

    async def _send_due(self) -> float | None:
        """Send what may be sent; return after how many seconds more may, None = nothing waits."""
        ready, pause = self._take(time.monotonic())
        is_down = False
        for group, message_type, notes in ready:
            if is_down:  # the others would wait for the same time-out
                self._failed += 1
                continue
            try:
                message = bundle(message_type, notes)
                async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                    await get_channel_layer().group_send(group, message)
                self.num_sent += 1
            except Exception as error:  # noqa: BLE001  (edge of a thread: a hint may be lost)
                self._failed += 1
                is_down = isinstance(error, TimeoutError)
                logger.debug("live.not_sent", extra={"group": group, "error": repr(error)})
        return pause

    def _take(self, now: float) -> tuple[list[tuple[str, str, list[Note]]], float | None]:
        ready, pause = [], None
        with self._lock:
            for group in list(self._due):
                held = self._groups[group]
                if held.next_at > now:
                    pause = min(pause or 1.0, held.next_at - now)
                    continue
                ready.append((group, held.message_type, list(held.notes)))
                held.notes.clear()
                held.next_at = now + held.pace_seconds
                self._due.discard(group)
            if len(self._groups) > MAX_GROUPS:
                self._groups = {group: self._groups[group] for group in self._due}
        return ready, pause

    def _complain(self) -> None:
        if not (self._dropped or self._failed):
            return
        if time.monotonic() - self._complained_at < COMPLAIN_SECONDS:
            return
        logger.warning(
            "live.lost", extra={"notes_dropped": self._dropped, "sends_failed": self._failed}
        )
        self._complained_at, self._dropped, self._failed = time.monotonic(), 0, 0


broadcaster = Broadcaster()
# A worker's child must not inherit a lock that some thread of its parent held.
os.register_at_fork(after_in_child=broadcaster.__init__)  # type: ignore[misc]
