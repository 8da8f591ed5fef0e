"""Runs attempts on a Kubernetes cluster: as an Indexed Job, a JobSet or a TrainJob each.

Nothing here remembers anything: a workload is found by its name and our labels, every write may be repeated, and what
an answer lost on its way did is found by the next look.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from safehold.config.kubernetes import Kubernetes
from safehold.findings import Finding
from workers import clusters
from workers.kube import drift as drifting
from workers.kube import names, objects, showing
from workers.kube.api import Kube
from workers.kube.conditions import main_container
from workers.kube.errors import KubeError
from workers.kube.forms import form_of
from workers.kube.kinds import JOB, SECRET, SERVICE
from workers.kube.objects import Place
from workers.kube.recent import Recent
from workers.kube.seeing import Look
from workers.kube.showing import Shown
from workers.kube.writing import Writer
from workers.launchers import launcher
from workers.launchers.base import LauncherError, LaunchSpec, Observation, Presence

logger = logging.getLogger(__name__)
Json = dict[str, Any]


def _now() -> datetime:
    return datetime.now(UTC)


class KubernetesLauncher:
    """One cluster and namespace as a launcher."""

    def __init__(self, kube: Kube, place: Place, *, now: Callable[[], datetime] = _now) -> None:
        self._kube = kube
        self._place = place
        self._now = now
        self._recent = Recent(kube, place, now)
        self._writer = Writer(kube, place)

    def start(self, spec: LaunchSpec) -> Mapping[str, Any]:
        """Make Secret, Service and workload, whichever are missing, and return the handle.

        Raises:
            LauncherError: The cluster refused (final), could not be reached, or the name is closed.
        """
        options = options_of(spec.config)
        form = form_of(options)
        self._recent.forget(form)
        item = form.build(spec, options, self._place)
        self._writer.ensure(SECRET, objects.secret(spec, self._place))
        if form.makes_service:
            self._writer.ensure(SERVICE, objects.service(spec, self._place))
        made = self._writer.ensure(form.kind, item)
        if names.FENCE in (made["metadata"].get("labels") or {}):
            self._writer.remove_companions(spec.name)
            raise LauncherError(f"The name {spec.name} is closed.", can_retry=False)
        self._writer.adopt_companions(form, made)
        return {"uid": made["metadata"]["uid"], "kind": form.kind.name}

    def observe(self, name: str, handle: Mapping[str, Any]) -> Observation:
        """Look once; what cannot be seen is unreachable, with the cluster's words."""
        try:
            return self.look(name, handle).observation
        except KubeError as error:
            return Observation(
                presence=Presence.UNREACHABLE, reason=error.message, seen_at=self._now()
            )

    def look(self, name: str, handle: Mapping[str, Any] = {}) -> Look:
        """Return the judgement and the pods behind it.

        Raises:
            KubeError: The cluster, or the kind that the handle tells of, cannot be seen.
        """
        snapshot = self._recent.snapshot()
        kind = handle.get("kind") or JOB.name
        if kind not in snapshot.listed:
            raise KubeError(f"The cluster does not let us see any {kind} just now.", can_retry=True)
        return snapshot.look(name)

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
        self._writer.end_pods(name, self._now)
        self._recent.forget()

    def fence(self, name: str) -> None:
        """Occupy the name, in every form, with something that never runs: a create still on its way comes too late.

        What runs under the name goes on; it only is marked. A cluster that refuses such an object of another kind than
        a Job would refuse a delayed create of ours as well, or the sweep ends what comes of it.

        Raises:
            LauncherError: The cluster refuses the Job (final), or could not be reached.
        """
        self._recent.forget()
        refused: LauncherError | None = None
        for form in self._recent.forms():
            try:
                if self._writer.close(form, name):
                    return
            except LauncherError as error:
                if error.can_retry:
                    raise
                facts = {"workload": name, "kind": form.kind.name, "error": error.message}
                logger.info("name.not_closed", extra=facts)
                refused = error if form.kind == JOB else refused
        self._writer.remove_companions(name)
        if refused is not None:
            raise refused

    def clean(self, name: str) -> None:
        """Remove all that was made under the name; nothing of it may be needed any more.

        Raises:
            LauncherError: The cluster could not be reached.
        """
        self._delete_workload(name, is_foreground=False)
        self._writer.remove_companions(name)

    def names(self) -> Iterable[str]:
        """Return the names of all that is ours here, tombstones included.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot = self._recent.snapshot()
        return sorted({*snapshot.jobs, *snapshot.pods})

    def live_names(self) -> Iterable[str]:
        """Return the names of the workloads that are alive.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot = self._recent.snapshot()
        return [name for name in snapshot.names() if snapshot.look(name).observation.is_alive]

    def show(self, name: str) -> Shown:
        """Return what a page shows of a workload: its pods, and what the cluster warns of.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        return showing.show(self._recent.snapshot(), name)

    def output(self, name: str, pod: str) -> bytes:
        """Return what the trainer's container of a pod printed, with the times of its node.

        Raises:
            LauncherError: It is gone, never started, or cannot be seen.
        """
        pods = self._recent.snapshot().pods.get(name, [])
        found = next((one for one in pods if one["metadata"]["name"] == pod), {})
        return self._kube.log(self._place.namespace, pod, main_container(found))

    def drift(
        self, spec: LaunchSpec, *, handle: Mapping[str, Any] = {}, known_images: Iterable[str] = ()
    ) -> list[Finding]:
        """Return where the live workload is not what the spec says; nothing where none lives.

        Args:
            spec: Of the attempt, as it was started.
            handle: What the start gave, to tell the workload from one that was made anew under its name.
            known_images: Ids of the image that earlier attempts ran under the same name.

        Raises:
            LauncherError: The cluster cannot be seen.
        """
        snapshot, options = self._recent.snapshot(), options_of(spec.config)
        live = snapshot.items.get(spec.name)
        if live is None or not names.is_ours(live, owner=self._place.owner, name=spec.name):
            return []
        built = form_of(options).build(spec, options, self._place)
        pods = snapshot.pods.get(spec.name, [])
        secret = self._writer.find(SECRET, spec.name)
        return [
            *drifting.drift(
                built, live, pods, known_images=known_images, uid=str(handle.get("uid") or "")
            ),
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

    def _delete_workload(self, name: str, *, is_foreground: bool) -> None:
        self._recent.forget()
        self._writer.delete_workload(self._recent.forms(), name, is_foreground=is_foreground)


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
