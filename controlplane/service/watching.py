"""The watcher of clusters begins with the first cluster, also with one that is registered on the page."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from django.db import DatabaseError

from controlplane.service import preparing, servers
from controlplane.service.processes import Supervisor

# One small query; a service without clusters has no process for them.
LOOK_EVERY_SECONDS = 2.0


class ClusterWatch:
    """Starts the watcher once there is something to watch."""

    def __init__(
        self, home: Path, supervisor: Supervisor, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._home, self._supervisor, self._now = home, supervisor, now
        self._is_started = False
        self._due_at = float("-inf")

    def tend(self) -> None:
        """Look whether there is a cluster by now, but not at every call."""
        if self._is_started or self._now() < self._due_at:
            return
        self._due_at = self._now() + LOOK_EVERY_SECONDS
        # A database that is just being restarted is asked again.
        with contextlib.suppress(DatabaseError):
            if preparing.has_clusters():
                self._supervisor.add(servers.watcher_child(self._home))
                self._is_started = True
