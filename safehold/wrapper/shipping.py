"""What the wrapper sends: logs while the ranks run; afterwards what they left, and how they ended."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from safehold.wrapper.options import Options
from safehold.wrapper.server import transport_of

if TYPE_CHECKING:
    from safehold.logship import LogShipper, LogThread
    from safehold.transport import Transport

EXIT = "/api/v1/ingest/exit"


class Shipping:
    """Sends, or does nothing where no server is named. Never raises: the end is on the disk."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._transport: Transport | None = None
        self._shipper: LogShipper | None = None
        self._thread: LogThread | None = None
        self._hurry = threading.Event()

    def start(self) -> None:
        """Begin to ship logs, if there is somewhere to ship them."""
        with contextlib.suppress(Exception):
            from safehold.logship import LogShipper, LogThread

            self._transport = transport_of(os.environ)
            if self._transport is not None:
                self._shipper = LogShipper(self._options.folder / "logs", self._transport)
                self._thread = LogThread(self._shipper)
                self._thread.start()

    def finish(self, document: dict[str, Any]) -> None:
        """Send the rest within the time that is set; whoever asks again to end is obeyed."""
        if self._transport is None:
            return
        sender = threading.Thread(target=self._send_rest, args=(document,), daemon=True)
        sender.start()
        deadline = time.monotonic() + self._options.ship_seconds
        while sender.is_alive() and time.monotonic() < deadline and not self._hurry.is_set():
            sender.join(0.1)

    def hurry(self) -> None:
        """End the sending now."""
        self._hurry.set()

    def _send_rest(self, document: dict[str, Any]) -> None:
        from safehold.logship import ship_all
        from safehold.replay import replay

        assert self._transport is not None
        assert self._shipper is not None
        deadline = time.monotonic() + self._options.ship_seconds
        with contextlib.suppress(Exception):
            if self._thread is None or self._thread.stop(self._options.ship_seconds):
                ship_all(self._shipper, deadline)
        with contextlib.suppress(Exception):
            left = max(1.0, deadline - time.monotonic())
            replay(self._options.folder, self._transport, timeout_seconds=left)
        self._post_end(document, deadline)

    def _post_end(self, document: dict[str, Any], deadline: float) -> None:
        from safehold import wire
        from safehold.transport import Denied, Rejected, Unreachable, wait_seconds

        assert self._transport is not None
        told = {"v": wire.VERSION, "exit": document, "node": self._options.node_rank}
        body = wire.write_map(told, wire.CONTENT_JSON)
        failures = 0
        while True:
            try:
                self._transport.post(EXIT, body, content_type=wire.CONTENT_JSON)
            except Unreachable as error:
                failures += 1
                if time.monotonic() > deadline:
                    return
                time.sleep(wait_seconds(failures, error.retry_after_seconds))
            except (Denied, Rejected):
                return
            else:
                return
