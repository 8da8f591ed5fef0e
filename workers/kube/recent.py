"""The newest snapshot of a cluster: one sweep looks at many runs, and they share the lists of one moment."""

import time
from collections.abc import Callable
from datetime import datetime

from workers.kube.api import Kube
from workers.kube.errors import KubeError
from workers.kube.forms import Form, served
from workers.kube.kinds import NODE
from workers.kube.objects import Place
from workers.kube.snapshot import Json, Snapshot, optional, take

SNAPSHOT_SECONDS = 1.0
# A node falls silent for tens of seconds before anybody calls it lost, and a large cluster has thousands.
NODES_SNAPSHOTS = 5
# A trouble is remembered longer, and for as long as the look took: time-outs must not fill the time of a worker.
TROUBLE_SNAPSHOTS = 5
# Kinds of workload come and go while a worker lives.
FORMS_SECONDS = 60.0


class Recent:
    """What was seen of one cluster a moment ago."""

    def __init__(self, kube: Kube, place: Place, now: Callable[[], datetime]) -> None:
        self._kube, self._place, self._now = kube, place, now
        self._forms: list[Form] = []
        self._forms_at = float("-inf")
        self._seen_nodes: list[Json] = []
        self._nodes_at = float("-inf")
        self._snapshot: Snapshot | None = None
        self._snapshot_at = float("-inf")
        self._trouble: KubeError | None = None
        self._trouble_until = float("-inf")

    def snapshot(self) -> Snapshot:
        """Return what is there, at most `SNAPSHOT_SECONDS` old.

        Raises:
            KubeError: The cluster cannot be seen, or could not a moment ago.
        """
        now = time.monotonic()
        if self._snapshot is not None and now - self._snapshot_at <= SNAPSHOT_SECONDS:
            return self._snapshot
        # A cluster that just did not answer would hold up every run of a sweep by a whole time-out.
        if self._trouble is not None and now < self._trouble_until:
            raise self._trouble
        try:
            self._snapshot = self._taken()
        except KubeError as error:
            then = time.monotonic()
            pause = SNAPSHOT_SECONDS * max(TROUBLE_SNAPSHOTS, then - now)
            self._trouble, self._trouble_until = error, then + pause
            raise
        self._trouble, self._snapshot_at = None, time.monotonic()
        return self._snapshot

    def _taken(self) -> Snapshot:
        if self._trouble is not None:
            # A server that takes connections and says nothing costs a moment then, not a whole time-out.
            self._kube.require_answer()
        return take(self._kube, self._place, self.forms(), now=self._now, nodes=self._nodes)

    def _nodes(self) -> list[Json]:
        if time.monotonic() - self._nodes_at > SNAPSHOT_SECONDS * NODES_SNAPSHOTS:
            self._seen_nodes = optional(self._kube, NODE, "")
            self._nodes_at = time.monotonic()
        return self._seen_nodes

    def forms(self) -> list[Form]:
        """Return the forms of workload that the cluster serves.

        Raises:
            KubeError: It cannot be seen which.
        """
        if time.monotonic() - self._forms_at > FORMS_SECONDS:
            self._forms = served(self._kube.groups())
            self._forms_at = time.monotonic()
        return self._forms

    def forget(self, form: Form | None = None) -> None:
        """Have the next look see a write of ours, also one of a form that was not served before."""
        self._snapshot = None
        if form is not None and form not in self._forms:
            self._forms_at = float("-inf")
