"""What follows clusters while the service runs: their watcher, and the credentials of KUBECONFIG."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from django.db import DatabaseError, connections

from controlplane.service import kubeconfigs, preparing, servers
from controlplane.service.processes import Supervisor

# One small query; a service without clusters has no process for them.
LOOK_EVERY_SECONDS = 2.0
# A token is renewed long before it expires.
RENEW_EVERY_SECONDS = 10.0


class KubeconfigWatch:
    """Renews the credentials of KUBECONFIG's cluster when its files change: tokens in them are rotated."""

    def __init__(
        self, say: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._now = say, now
        self._known = kubeconfigs.digest()
        self._due_at = self._now() + RENEW_EVERY_SECONDS

    def tend(self) -> None:
        """Look whether they changed, but not at every call."""
        if self._now() < self._due_at:
            return
        self._due_at = self._now() + RENEW_EVERY_SECONDS
        found = kubeconfigs.digest()
        if not found or found == self._known:
            return
        with contextlib.suppress(DatabaseError):
            kubeconfigs.register(say=self._say)
            self._known = found
        connections.close_all()


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
