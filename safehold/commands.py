"""Commands from the server: each handed on once, each reported until the report has arrived."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from safehold.wire import Applied, Command, CommandKind


class Inbox:
    """Between the sending thread, which receives, and the training thread, which obeys."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[int | str] = set()
        self._waiting: deque[Command] = deque()
        self._reports: list[Applied] = []

    def offer(self, commands: Sequence[Command]) -> None:
        """Take in what an acknowledgement brought; a known id is left alone."""
        with self._lock:
            for command in commands:
                if command.id not in self._seen:
                    self._seen.add(command.id)
                    self._waiting.append(command)

    def peek(self, *kinds: CommandKind) -> Command | None:
        """Return the oldest waiting command (of these kinds), and leave it there."""
        with self._lock:
            return next((c for c in self._waiting if not kinds or c.kind in kinds), None)

    def take(self, kind: CommandKind) -> Command | None:
        """Remove and return the oldest waiting command of that kind."""
        with self._lock:
            found = next((c for c in self._waiting if c.kind == kind), None)
            if found is not None:
                self._waiting.remove(found)
            return found

    def applied(self, command: Command | None, message: str = "") -> None:
        """Report that a command was done; `None` (agreed without a command) reports nothing."""
        self._report(command, Applied(command.id, "applied", message) if command else None)

    def refused(self, command: Command | None, message: str) -> None:
        """Report that a command was not done, and why."""
        self._report(command, Applied(command.id, "refused", message) if command else None)

    def reports(self) -> tuple[Applied, ...]:
        """Return what is still to be reported."""
        with self._lock:
            return tuple(self._reports)

    def arrived(self, reports: Sequence[Applied]) -> None:
        """Forget reports that the server has received."""
        with self._lock:
            self._reports = [report for report in self._reports if report not in reports]

    def _report(self, command: Command | None, report: Applied | None) -> None:
        if command is not None and report is not None:
            with self._lock:
                self._reports.append(report)
