"""Killing a worker between two lines of what it does."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from types import FrameType
from typing import Any

from django.db import connection

# The code between whose lines a worker dies: everything of ours that submits, records and stops.
PLACES = (
    "/workers/acting.py",
    "/workers/passes.py",
    "/workers/patience.py",
    "/workers/launchers/kubernetes.py",
    "/workers/kube/api.py",
    "/workers/kube/recent.py",
    "/workers/kube/writing.py",
    "/runs/services/attempts.py",
    "/runs/services/commands.py",
    "/runs/services/events.py",
    "/runs/services/runs.py",
)


class Killed(BaseException):
    """The worker's process is gone: nothing behind this line happens."""


@dataclass
class Killer:
    """Kills whoever reaches the n-th line; remembers how many lines the passes so far had.

    Attributes:
        num_kills: How often it has killed.
    """

    random: Random
    longest: int = 200
    num_kills: int = 0

    def __post_init__(self) -> None:
        self._left = 0
        self._seen = 0

    def run(self, act: Callable[[], object], *, is_armed: bool) -> bool:
        """Run a worker's act; return whether it lived to its end."""
        if not is_armed:
            act()
            return True
        self._left, self._seen = self.random.randint(1, self.longest), 0
        sys.settrace(self._enter)
        try:
            act()
        except Killed:
            self.num_kills += 1
            _drop_connection()
            return False
        finally:
            sys.settrace(None)
            if self._left > 0:  # it was over before: aim nearer, now and then further
                self.longest = max(20, int(self._seen * 1.5), int(self.longest * 0.9))
        return True

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._line if frame.f_code.co_filename.endswith(PLACES) else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._left -= 1
            self._seen += 1
            if self._left == 0:
                raise Killed
        return self._line


def _drop_connection() -> None:
    """Lose the connection as a process does that is gone: transaction and locks go with it."""
    sys.settrace(None)
    if connection.connection is not None:
        connection.connection.close()
    connection.connection = None
    connection.connect()
