"""The watcher: follows our objects in every cluster and has their runs looked at sooner.

Nothing depends on it: the sweep sees the same a few seconds later. Of several watchers one works, the others stand by;
the database elects it, and a dead one's lock falls with its connection.
"""

import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import DatabaseError, close_old_connections, connection

from controlplane.common.errors import SafeholdError
from controlplane.common.queue import wake
from runs.models import Cluster
from workers import clusters
from workers.kube import watching
from workers.kube.api import Kube
from workers.kube.errors import KubeError
from workers.kube.forms import served
from workers.kube.kinds import JOB, POD, Kind

logger = logging.getLogger(__name__)
_LOCK = 0x5AFE_0002 << 32
_WORKLOAD = re.compile(r"safehold-r(?P<run>[0-9]+)-a[0-9]+")
# A step of 200 pods is one look, not 200.
BUNDLE_SECONDS = 0.3
# How often clusters that were added, changed or removed are noticed, and a stand-by tries to take over: one query.
REFRESH_SECONDS = 3.0


@dataclass
class Changes:
    """Runs that changed since they were last handed on."""

    runs: set[int] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, workload: str) -> None:
        """Note a change of a workload; names that are not ours are passed over."""
        if found := _WORKLOAD.fullmatch(workload):
            with self.guard:
                self.runs.add(int(found["run"]))

    def take(self) -> list[int]:
        """Return what was noted and begin anew."""
        with self.guard:
            taken, self.runs = sorted(self.runs), set()
        return taken


@dataclass
class Follower:
    """The threads that follow one cluster."""

    cluster: Cluster
    changes: Changes
    over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Follow the pods and every form of workload that the cluster serves; never waits for the cluster.

        Raises:
            CannotDecrypt: Its credentials were stored with another key.
        """
        kube = clusters.kube_of(self.cluster)
        for kind in (POD, JOB):
            self._spawn(self._follow, kube, kind)
        self._spawn(self._follow_others, kube)

    def stop(self) -> None:
        """Let the threads end; a watch that is open ends by itself within its time."""
        self.over.set()

    def _spawn(self, target: Callable[..., None], *args: object) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()

    def _follow_others(self, kube: Kube) -> None:
        try:
            forms = served(kube.groups())
        except KubeError as error:
            # They are taken up at the next change of the record, which a survey makes.
            logger.warning("watcher.groups_unknown", extra={"error": error.message})
            return
        for form in forms:
            if form.kind != JOB:
                self._spawn(self._follow, kube, form.kind)

    def _follow(self, kube: Kube, kind: Kind) -> None:
        watching.follow(
            kube, kind, self.cluster.namespace, owner=self.cluster.owner,
            changed=self.changes.add, sleep=self._sleep, is_over=self.over.is_set,
        )  # fmt: skip

    def _sleep(self, seconds: float) -> None:
        self.over.wait(seconds)


def run_watcher(over: threading.Event) -> None:
    """Watch whenever this process is the elected one, until `over`."""
    while not over.is_set():
        try:
            close_old_connections()
            if _is_elected():
                logger.info("watcher.elected")
                _watch(over)
        except DatabaseError as error:
            logger.warning("watcher.without_database", extra={"error": str(error)})
            connection.close()
        over.wait(REFRESH_SECONDS)


def _watch(over: threading.Event) -> None:
    """Follow all clusters while the lock is ours."""
    changes, followers = Changes(), dict[tuple[object, ...], Follower]()
    refresh_in = 0.0
    try:
        while not over.is_set():
            if refresh_in <= 0:
                _refresh(followers, changes)
                refresh_in = REFRESH_SECONDS
            for run_id in changes.take():
                wake("workers.reconcile", run_id=run_id)
            over.wait(BUNDLE_SECONDS)
            refresh_in -= BUNDLE_SECONDS
    finally:
        for follower in followers.values():
            follower.stop()
        # The lock falls with the connection, also when the database itself was what broke.
        connection.close()


def _refresh(followers: dict[tuple[object, ...], Follower], changes: Changes) -> None:
    """Follow what is registered now, with the credentials of now."""
    wanted = {_key(cluster): cluster for cluster in Cluster.objects.filter(is_enabled=True)}
    for key in set(followers) - set(wanted):
        followers.pop(key).stop()
    for key in set(wanted) - set(followers):
        follower = Follower(wanted[key], changes)
        try:
            follower.start()
        except SafeholdError as error:
            # One cluster with credentials of another key keeps no other from being followed.
            facts = {"cluster": wanted[key].name, "error": error.message}
            logger.warning("watcher.not_followed", extra=facts)
        followers[key] = follower


def _key(cluster: Cluster) -> tuple[object, ...]:
    groups = tuple(cluster.survey.get("groups") or ())
    return cluster.pk, cluster.credentials, cluster.namespace, cluster.owner, groups


def _is_elected() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])
