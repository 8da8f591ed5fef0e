"""Sending log files to the server as they grow; the offset makes it idempotent."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from safehold import wire
from safehold.transport import Denied, Rejected, Transport, Unreachable, wait_seconds

logger = logging.getLogger(__name__)

LOGS = "/api/v1/ingest/logs"
PIECE_BYTES = 256 * 1024
EVERY_SECONDS = 0.5
DENIED_SECONDS = 60.0  # as the reporting of the ranks


class LogShipper:
    """Sends every `*.log` of a folder, its name without the suffix being the source."""

    def __init__(self, folder: Path, transport: Transport) -> None:
        self._folder = folder
        self._transport = transport
        self._offsets: dict[str, int] = {}

    def ship(self) -> bool:
        """Send the next piece of each log; returns whether there was one.

        Raises:
            Unreachable: trying later can help.
            Denied: the token has ended.
        """
        sent = [self._ship_one(path) for path in sorted(self._folder.glob("*.log"))]
        return any(sent)

    def _ship_one(self, path: Path) -> bool:
        source = path.stem
        offset = self._offsets.get(source, 0)
        data = _read(path, offset)
        if not data:
            return False
        body, encoding = wire.compress(
            wire.write_map({"v": wire.VERSION, "source": source, "offset": offset, "data": data})
        )
        try:
            answer = self._transport.post(LOGS, body, encoding=encoding)
        except Rejected as rejected:
            return self._adjust(source, offset, len(data), rejected)
        return self._move(source, answer.get("next"), offset + len(data))

    def _move(self, source: str, told: object, otherwise: int) -> bool:
        before = self._offsets.get(source, 0)
        self._offsets[source] = told if type(told) is int and told >= 0 else otherwise
        return self._offsets[source] != before

    def _adjust(self, source: str, offset: int, size: int, rejected: Rejected) -> bool:
        """Begin where the server wants; what it refuses otherwise is left out."""
        if rejected.status != 409:
            logger.warning("logship.refused", extra={"source": source, "reason": str(rejected)})
        return self._move(source, rejected.problem.get("next"), offset + size)


class LogThread:
    """Ships while the ranks run."""

    def __init__(self, shipper: LogShipper) -> None:
        self._shipper = shipper
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="safehold-logs", daemon=True)

    def start(self) -> None:
        """Begin to ship."""
        self._thread.start()

    def stop(self, timeout_seconds: float = 5.0) -> bool:
        """End the thread; returns whether it has ended, so that another may ship."""
        self._ended.set()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failures = 0
        while not self._ended.wait(wait_seconds(failures) if failures else EVERY_SECONDS):
            try:
                self._shipper.ship()
                failures = 0
            except Unreachable:
                failures += 1
            except Denied as error:
                logger.error("logship.denied", extra={"reason": str(error)})
                if self._ended.wait(DENIED_SECONDS):
                    return
            except Exception:
                failures += 1
                logger.exception("logship.failed")


def ship_all(shipper: LogShipper, deadline: float) -> bool:
    """Send what is left until the deadline (monotonic seconds); returns whether all went."""
    failures = 0
    while time.monotonic() < deadline:
        try:
            if not shipper.ship():
                return True
            failures = 0
        except Unreachable as error:
            failures += 1
            pause = wait_seconds(failures, error.retry_after_seconds)
            time.sleep(max(0.0, min(pause, deadline - time.monotonic())))
        except Denied:
            return False
    return False


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(PIECE_BYTES)
    except OSError:
        return b""
