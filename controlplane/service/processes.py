"""The children of the service: started in order, restarted with back-off, stopped in reverse order."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from controlplane.service import children

logger = logging.getLogger(__name__)
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0
# A child that lived this long was not failing at its start; its next restart is quick again.
SETTLED_SECONDS = 60.0


@dataclass
class Child:
    """One process of the service and how it is started and stopped.

    Attributes:
        name: For logs and messages.
        spawn: Starts the process and returns it at once.
        stop_signal: Asks it to end cleanly.
        stop_timeout_seconds: After this it is killed.
        is_once: It does one thing and ends; it is not started again.
    """

    name: str
    spawn: Callable[[], subprocess.Popen[bytes]]
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_seconds: float = 15
    process: subprocess.Popen[bytes] | None = None
    is_once: bool = False
    started_at: float = 0.0
    num_failures: int = 0
    due_at: float = 0.0

    def start(self) -> None:
        """Start it now."""
        self.process = self.spawn()
        self.started_at = time.monotonic()

    def stop(self) -> None:
        """Stop it and wait."""
        if self.process is not None:
            children.stop(self.process, self.stop_signal, self.stop_timeout_seconds)
            self.process = None


class Supervisor:
    """Keeps the children alive; use it from the main thread (see `children.die_with_parent`)."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._children: list[Child] = []
        self._now = now

    def add(self, child: Child) -> None:
        """Take over a child, starting it unless it runs already."""
        self._children.append(child)
        if child.process is None:
            child.start()
        child.started_at = self._now()

    def tend(self) -> list[str]:
        """Look at every child once; return a sentence for each that ended or was restarted."""
        return [told for child in self._children if (told := self._tend_one(child))]

    def stop(self) -> None:
        """Stop all, the last started first."""
        for child in reversed(self._children):
            child.stop()
        self._children.clear()

    def _tend_one(self, child: Child) -> str:
        if child.process is None:
            is_due = not child.is_once and self._now() >= child.due_at
            return self._restart(child) if is_due else ""
        code = child.process.poll()
        if code is None:
            return ""
        return self._let_go(child, code) if child.is_once else self._plan_restart(child, code)

    def _let_go(self, child: Child, code: int) -> str:
        child.process = None
        return (
            f"{child.name}: failed ({ending(code)}), see the logs"
            if code
            else f"{child.name}: ready"
        )

    def _plan_restart(self, child: Child, code: int) -> str:
        if self._now() - child.started_at >= SETTLED_SECONDS:
            child.num_failures = 0
        wait = delay_seconds(child.num_failures)
        child.num_failures += 1
        child.process, child.due_at = None, self._now() + wait
        logger.error("child.ended", extra={"child": child.name, "exit": code, "wait": wait})
        return f"{child.name} ended ({ending(code)}); it is started again in {wait:g} s."

    def _restart(self, child: Child) -> str:
        child.start()
        child.started_at = self._now()
        logger.info("child.restarted", extra={"child": child.name})
        return f"{child.name} was started again."


def delay_seconds(num_failures: int) -> float:
    """Return the wait before the next start: doubled with each failure, bounded."""
    return min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(num_failures, 16))


def ending(code: int) -> str:
    """Say in words how a process ended.

    Args:
        code: As `subprocess` gives it: negative is the signal.
    """
    if code >= 0:
        return f"exit code {code}"
    return f"signal {-code}"
