"""Runs attempts on a Kubernetes cluster: as an Indexed Job, a JobSet or a TrainJob each.

Nothing here remembers anything: a workload is found by its name and our labels, every write may be repeated, and what
an answer lost on its way did is found by the next look.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from safehold.config.kubernetes import Kubernetes
from safehold.findings import Finding
from workers import clusters
from workers.kube import drift as drifting
from workers.kube import names, objects, showing
from workers.kube.api import Kube
from workers.kube.conditions import condition
from workers.kube.errors import KubeError
from workers.kube.forms import Form, form_of, served
from workers.kube.kinds import NODE, POD, SECRET, SERVICE, Kind
from workers.kube.objects import Place
from workers.kube.seeing import Look
from workers.kube.showing import Shown
from workers.kube.snapshot import Snapshot, take
from workers.launchers import launcher
from workers.launchers.base import LauncherError, LaunchSpec, Observation, Presence

logger = logging.getLogger(__name__)
Json = dict[str, Any]
# One sweep looks at many runs: they share the lists of one moment.
SNAPSHOT_SECONDS = 1.0
# A tenth of a second was seen; longer than that a refusal is meant.
ROLES_SECONDS = 1.0
# What a forced end leaves the kubelet to kill and confirm; with 0 the object would vanish unconfirmed.
KILL_GRACE_SECONDS = 1
# How long a node must have been silent before its pods are given up unconfirmed.
NODE_LOST_AFTER = timedelta(seconds=60)


def _now() -> datetime:
    return datetime.now(UTC)


class KubernetesLauncher:
    """One cluster and namespace as a launcher."""

    def __init__(self, kube: Kube, place: Place, *, now: Callable[[], datetime] = _now) -> None:
        self._kube = kube
        self._place = place
        self._now = now
        self._forms: list[Form] | None = None
        self._snapshot: Snapshot | None = None
        self._snapshot_at = 0.0
        self._trouble: KubeError | None = None
        self._trouble_at = 0.0

    def start(self, spec: LaunchSpec) -> Mapping[str, Any]:
        """Make Secret, Service and workload, whichever are missing, and return the handle.

        Raises:
            LauncherError: The cluster refused (final), could not be reached, or the name is closed.
        """
        self._forget()
        options = options_of(spec.config)
        form = form_of(options)
        item = form.build(spec, options, self._place)
        self._ensure(SECRET, objects.secret(spec, self._place))
        if form.makes_service:
            self._ensure(SERVICE, objects.service(spec, self._place))
        made = self._ensure(form.kind, item)
        if names.FENCE in (made["metadata"].get("labels") or {}):
            self._remove_companions(spec.name)
            raise LauncherError(f"The name {spec.name} is closed.", can_retry=False)
        self._adopt_companions(form, made)
        return {"uid": made["metadata"]["uid"]}

    def observe(self, name: str, handle: Mapping[str, Any]) -> Observation:
        """Look once; what cannot be seen is unreachable, with the cluster's words."""
        try:
            return self.look(name).observation
        except KubeError as error:
            return Observation(
                presence=Presence.UNREACHABLE, reason=error.message, seen_at=self._now()
            )

    def look(self, name: str) -> Look:
        """Return the judgement and the pods behind it.

        Raises:
            KubeError: The cluster cannot be seen.
        """
        return self._recent().look(name)

    def stop(self, name: str, handle: Mapping[str, Any], *, grace_seconds: int) -> None:
        """Delete the workload; its pods get SIGTERM and the grace of their template, and it waits for them.

        Raises:
            LauncherError: The cluster could not be reached.
        """
        self._delete_workload(name, is_foreground=True)

    def kill(self, name: str, handle: Mapping[str, Any]) -> None:
        """Delete the workload and end its pods now; pods of a node that is long lost are given up unconfirmed.

        Raises:
            LauncherError: The cluster could not be reached.
        """
        self._delete_workload(name, is_foreground=False)
        for pod in self._pods(name):
            metadata = pod["metadata"]
            grace = 0 if self._is_on_lost_node(pod) else KILL_GRACE_SECONDS
            self._kube.delete(
                POD,
                self._place.namespace,
                metadata["name"],
                uid=metadata["uid"],
                grace_seconds=grace,
            )
        self._forget()

    def fence(self, name: str) -> None:
        """Occupy the name, in every form, with something that never runs: a create still on its way comes too late.

        What runs under the name goes on; it only is marked.

        Raises:
            LauncherError: The cluster could not be reached.
        """
        self._forget()
        for form in self._served_forms():
            try:
                stone = form.tombstone(name, self._place)
                self._kube.create(form.kind, self._place.namespace, stone)
            except KubeError as error:
                if not error.is_taken:
                    raise
                if self._mark_closed(form, name):
                    return
        self._remove_companions(name)

    def _mark_closed(self, form: Form, name: str) -> bool:
        """Mark what occupies the name, unless it is the tombstone; return whether it is a workload of ours."""
        found = self._find(form.kind, name)
        if found is None or not names.is_ours(found, owner=self._place.owner, name=name):
            return False
        if names.is_tombstone(found):
            return False
        change = {"metadata": {"labels": {names.FENCE: names.CLOSED}}}
        self._kube.patch(form.kind, self._place.namespace, name, change)
        return True

    def clean(self, name: str) -> None:
        """Remove all that was made under the name; nothing of it may be needed any more.

        Raises:
            LauncherError: The cluster could not be reached.
        """
        self._delete_workload(name, is_foreground=False)
        self._remove_companions(name)

    def names(self) -> Iterable[str]:
        """Return the names of all that is ours here, tombstones included.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot = self._recent()
        return sorted({*snapshot.jobs, *snapshot.pods})

    def live_names(self) -> Iterable[str]:
        """Return the names of the workloads that are alive.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot = self._recent()
        return [name for name in snapshot.names() if snapshot.look(name).observation.is_alive]

    def show(self, name: str) -> Shown:
        """Return what a page shows of a workload: its pods, and what the cluster warns of.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        return showing.show(self._recent(), name)

    def drift(self, spec: LaunchSpec, *, known_images: Iterable[str] = ()) -> list[Finding]:
        """Return where the live workload is not what the spec says; nothing where none lives.

        Args:
            spec: Of the attempt, as it was started.
            known_images: Ids of the image that earlier attempts ran under the same name.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot, options = self._recent(), options_of(spec.config)
        live = snapshot.items.get(spec.name)
        if live is None or not names.is_ours(live, owner=self._place.owner, name=spec.name):
            return []
        built = form_of(options).build(spec, options, self._place)
        pods = snapshot.pods.get(spec.name, [])
        secret = self._find(SECRET, spec.name)
        return [
            *drifting.drift(built, live, pods, known_images=known_images),
            *drifting.secret_drift(objects.secret(spec, self._place), secret),
        ]

    def manifests(self, spec: LaunchSpec) -> list[Json]:
        """Return the objects that a start makes, the secret ones masked."""
        options = options_of(spec.config)
        form = form_of(options)
        made = [form.build(spec, options, self._place)]
        if form.makes_service:
            made.append(objects.service(spec, self._place))
        return [*made, showing.masked(objects.secret(spec, self._place))]

    def dry_run(self, spec: LaunchSpec) -> None:
        """Have the cluster check the workload without storing it.

        Raises:
            LauncherError: With what the cluster says of it, field by field.
        """
        options = options_of(spec.config)
        form = form_of(options)
        item = form.build(spec, options, self._place)
        self._kube.create(form.kind, self._place.namespace, item, is_dry=True)

    def _ensure(self, kind: Kind, item: Json) -> Json:
        """Create the object, or adopt the one that is provably ours."""
        name = item["metadata"]["name"]
        try:
            return self._create(kind, item)
        except KubeError as error:
            if not error.is_taken:
                raise
        found = self._kube.read(kind, self._place.namespace, name)
        if not names.is_ours(found, owner=self._place.owner, name=name):
            message = (
                f"A {kind.name} named {name} exists in {self._place.namespace} and is not ours."
            )
            raise LauncherError(message, can_retry=False)
        if "deletionTimestamp" in found["metadata"]:
            message = f"The {kind.name} {name} is being deleted; its name is not used again."
            raise LauncherError(message, can_retry=False)
        return found

    def _create(self, kind: Kind, item: Json) -> Json:
        """Create; once more after a 403, which an API server gives while its roles are still being loaded."""
        try:
            return self._kube.create(kind, self._place.namespace, item)
        except KubeError as error:
            if error.status != 403:
                raise
        time.sleep(ROLES_SECONDS)
        return self._kube.create(kind, self._place.namespace, item)

    def _adopt_companions(self, form: Form, made: Json) -> None:
        """Let Secret and Service go when the workload goes."""
        metadata = made["metadata"]
        owner = {"apiVersion": form.kind.api_version, "kind": form.kind.name}
        owner |= {"name": metadata["name"], "uid": metadata["uid"]}
        for kind in (SECRET, SERVICE) if form.makes_service else (SECRET,):
            change = {"metadata": {"ownerReferences": [owner]}}
            self._kube.patch(kind, self._place.namespace, metadata["name"], change)

    def _remove_companions(self, name: str) -> None:
        for kind in (SECRET, SERVICE):
            found = self._find(kind, name)
            if found and names.is_ours(found, owner=self._place.owner, name=name):
                uid = found["metadata"]["uid"]
                self._kube.delete(kind, self._place.namespace, name, uid=uid)

    def _delete_workload(self, name: str, *, is_foreground: bool) -> None:
        self._forget()
        for form in self._served_forms():
            found = self._find(form.kind, name)
            if found is None:
                continue
            if not names.is_ours(found, owner=self._place.owner, name=name):
                facts = {"workload": name, "kind": form.kind.name}
                logger.warning("workload.not_ours", extra=facts)
                continue
            uid = found["metadata"]["uid"]
            self._kube.delete(
                form.kind, self._place.namespace, name, uid=uid, is_foreground=is_foreground
            )

    def _find(self, kind: Kind, name: str) -> Json | None:
        try:
            return self._kube.read(kind, self._place.namespace, name)
        except KubeError as error:
            if error.is_absent:
                return None
            raise

    def _served_forms(self) -> list[Form]:
        if self._forms is None:
            self._forms = served(self._kube.groups())
        return self._forms

    def _pods(self, name: str) -> list[Json]:
        ours = names.selector(owner=self._place.owner, name=name)
        return self._kube.list(POD, self._place.namespace, selector=ours).items

    def _is_on_lost_node(self, pod: Json) -> bool:
        node_name = (pod.get("spec") or {}).get("nodeName")
        if not node_name:
            return False
        try:
            node = self._kube.read(NODE, "", node_name)
        except KubeError as error:
            return error.is_absent
        ready = condition(node, "Ready") or {}
        if ready.get("status") == "True" or not ready.get("lastTransitionTime"):
            return False
        silent_since = datetime.fromisoformat(ready["lastTransitionTime"])
        return self._now() - silent_since >= NODE_LOST_AFTER

    def _recent(self) -> Snapshot:
        now = time.monotonic()
        if self._snapshot is not None and now - self._snapshot_at <= SNAPSHOT_SECONDS:
            return self._snapshot
        # A cluster that just did not answer would hold up every run of a sweep by a whole time-out.
        if self._trouble is not None and now - self._trouble_at < SNAPSHOT_SECONDS * 5:
            raise self._trouble
        try:
            self._snapshot = take(self._kube, self._place, self._served_forms(), now=self._now)
        except KubeError as error:
            self._trouble, self._trouble_at = error, time.monotonic()
            raise
        self._trouble, self._snapshot_at = None, time.monotonic()
        return self._snapshot

    def _forget(self) -> None:
        """A look after a write of ours must see it."""
        self._snapshot = None


def options_of(config: Mapping[str, Any]) -> Kubernetes:
    """Return the section of the config, or its defaults.

    Raises:
        LauncherError: The section cannot be used.
    """
    try:
        return Kubernetes.model_validate(config.get("kubernetes") or {})
    except ValueError as error:
        raise LauncherError(f"[kubernetes] of the config: {error}", can_retry=False) from error


@launcher("kubernetes")
def of_cluster(name: str = "") -> KubernetesLauncher:
    """Return the launcher of a registered cluster; one a process, so that a sweep shares its lists.

    Raises:
        NotFound: There is no such cluster.
        CannotDecrypt: Its credentials were stored with another key.
    """
    cluster = clusters.cluster_called(name)
    known = (cluster.pk, cluster.credentials, clusters.place_of(cluster))
    if known not in _launchers:
        _launchers[known] = KubernetesLauncher(clusters.kube_of(cluster), known[2])
    return _launchers[known]


_launchers: dict[tuple[int, str, Place], KubernetesLauncher] = {}
