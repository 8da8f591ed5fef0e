"""Checkpoint registrations that an outage cannot lose: a file each, deleted once the server has it."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from safehold import wire
from safehold.durability import sync_folder
from safehold.transport import Denied, Rejected, Transport, Unreachable, wait_seconds

logger = logging.getLogger(__name__)

REGISTER = "/api/v1/checkpoints/register"
_SUFFIX = ".json"
# In memory where the disk takes nothing: the newest saves, whose manifests may be megabytes each.
MOST_HELD = 16


class Outbox:
    """Registrations on the disk, oldest first. Posting one twice is harmless: the server knows it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._last_ns = 0
        self._held: deque[bytes] = deque(maxlen=MOST_HELD)

    def put(self, registration: dict[str, Any]) -> Path:
        """Keep a registration, on the disk when this returns.

        Raises:
            OSError: the disk took it not; the caller tells. It is delivered all the same while this process lives.
        """
        body = json.dumps(wire.tidy(registration), allow_nan=False).encode()
        try:
            return self._written(body)
        except OSError:
            self._held.append(body)
            raise

    def _written(self, body: bytes) -> Path:
        if not self.folder.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self.folder.parent)
        name = self._next_name()
        part = self.folder / f"{name}.part"
        try:
            with part.open("wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            part.unlink(missing_ok=True)
            raise
        part.rename(self.folder / name)
        sync_folder(self.folder)
        return self.folder / name

    @property
    def is_empty(self) -> bool:
        """Say whether everything is delivered."""
        return not self._held and not self.waiting()

    def waiting(self) -> list[Path]:
        """Return the files of what is not yet delivered, oldest first."""
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == _SUFFIX)
        except FileNotFoundError:
            return []

    def deliver(self, transport: Transport) -> int:
        """Post all that wait, in order; returns how many were delivered.

        Raises:
            Unreachable: trying later can help.
            Denied: the attempt may not register any more; the files stay.
        """
        delivered = 0
        for path in self.waiting():
            try:
                body = path.read_bytes()
                transport.post(REGISTER, body, content_type=wire.CONTENT_JSON)
            except FileNotFoundError:
                continue
            except Rejected as rejected:
                self._set_aside(path, rejected)
                continue
            path.unlink(missing_ok=True)
            delivered += 1
        return delivered + self._deliver_held(transport)

    def _deliver_held(self, transport: Transport) -> int:
        delivered = 0
        while self._held:
            try:
                transport.post(REGISTER, self._held[0], content_type=wire.CONTENT_JSON)
                delivered += 1
            except Rejected as rejected:
                logger.error("outbox.refused", extra={"reason": str(rejected)})
            self._held.popleft()
        return delivered

    def _next_name(self) -> str:
        """Return a name that sorts after all that wait, also where the clock was put back."""
        with self._lock:
            if not self._last_ns:
                found = [path.name.partition("-")[0] for path in self.waiting()]
                self._last_ns = max((int(text) for text in found if text.isdecimal()), default=0)
            self._last_ns = max(time.time_ns(), self._last_ns + 1)
            return f"{self._last_ns:020d}-{os.getpid()}{_SUFFIX}"

    def _set_aside(self, path: Path, rejected: Rejected) -> None:
        logger.error("outbox.refused", extra={"file": str(path), "reason": str(rejected)})
        aside = self.folder / "refused"
        aside.mkdir(exist_ok=True)
        path.rename(aside / path.name)


class Postman:
    """The thread that empties an outbox."""

    def __init__(self, outbox: Outbox, transport: Transport) -> None:
        self._outbox = outbox
        self._transport = transport
        self._wake = threading.Event()
        self._closing = False
        self._deadline = 0.0
        self._thread = threading.Thread(target=self._run, name="safehold-postman", daemon=True)

    def start(self) -> None:
        """Begin to deliver, also what an earlier process left."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is something new."""
        self._wake.set()

    def close(self, timeout_seconds: float = 10.0) -> bool:
        """Deliver what is left and end; returns whether nothing is left."""
        self._deadline = time.monotonic() + timeout_seconds
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout_seconds + 1.0)
        if not self._thread.is_alive():
            self._transport.close()
        return self._outbox.is_empty

    def _run(self) -> None:
        failures = 0
        while True:
            is_last = self._closing  # read before: what was put until then is delivered now
            failures = 0 if self._delivered() else failures + 1
            if is_last and (not failures or time.monotonic() > self._deadline):
                return
            pause = wait_seconds(failures) if failures else None
            if self._closing:
                time.sleep(min(pause or 0.0, 0.5))
            else:
                self._wake.wait(pause)
            self._wake.clear()

    def _delivered(self) -> bool:
        try:
            self._outbox.deliver(self._transport)
        except Unreachable:
            return False
        except Denied as error:
            logger.error("outbox.denied", extra={"reason": str(error)})
        except Exception:
            logger.exception("outbox.failed")
            return False
        return True
