"""SIGTERM means: save and stop. It is a wish like that of a person, and agreed like one."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

logger = logging.getLogger(__name__)


class Stopped(SystemExit):
    """The run was asked to stop where there was nothing to save: exit with code 0."""

    def __init__(self, reason: str = "asked to stop") -> None:
        super().__init__(0)
        self.reason = reason


class StopSignal:
    """Remembers that SIGTERM came.

    Attributes:
        requested: Whether it has come.
    """

    def __init__(self, on_signal: Callable[[], None]) -> None:
        self.requested = False
        self._on_signal = on_signal
        self._pid = os.getpid()
        self._old: Callable[[int, FrameType | None], object] | int | None = None

    def install(self) -> None:
        """Take over SIGTERM; outside the main thread nothing can, and nothing does."""
        if threading.current_thread() is not threading.main_thread():
            logger.info("signals.not_installed")
            return
        self._old = signal.signal(signal.SIGTERM, self._handle)

    def remove(self) -> None:
        """Give SIGTERM back."""
        if self._old is None or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) == self._handle:
            signal.signal(signal.SIGTERM, self._old)
        self._old = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # a forked copy, such as a data loading worker, just ends
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.requested = True
        if callable(self._old):
            self._old(number, frame)
        self._on_signal()
