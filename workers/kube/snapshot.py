"""All that this control plane has in a namespace, read with one list a kind, whatever the number of runs and pods."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from workers.kube import names, queueing
from workers.kube.api import Kube
from workers.kube.conditions import condition
from workers.kube.errors import KubeError
from workers.kube.forms import Form
from workers.kube.kinds import EVENT, JOB, POD, WORKLOAD, Kind
from workers.kube.objects import Place
from workers.kube.seeing import Look, look

Json = dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """All our workloads, read as Jobs and as they are, and their pods at one moment."""

    jobs: dict[str, Json]
    pods: dict[str, list[Json]]
    kinds: dict[str, Kind] = field(default_factory=dict)
    items: dict[str, Json] = field(default_factory=dict)
    events: list[Json] = field(default_factory=list)
    workloads: list[Json] = field(default_factory=list)
    nodes_not_ready: Mapping[str, str] = field(default_factory=dict)
    listed: frozenset[str] = frozenset({JOB.name})
    taken_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def look(self, name: str) -> Look:
        """Judge one workload as of this moment."""
        job, pods = self.jobs.get(name), self.pods.get(name, [])
        is_fenced = job is not None and names.FENCE in (job["metadata"].get("labels") or {})
        found = look(
            None if job is None or names.is_tombstone(job) else job,
            pods,
            events=self._events_of(name) if job is None or _needs_words(job, pods) else [],
            nodes_not_ready=self.nodes_not_ready,
            admission=self._admission(job),
            is_fenced=is_fenced,
            now=self.taken_at,
        )
        if not found.observation.handle:
            return found
        handle = {**found.observation.handle, "kind": self.kinds[name].name}
        return replace(found, observation=replace(found.observation, handle=handle))

    def names(self) -> Iterator[str]:
        """Yield the names of all workloads of which anything was listed, tombstones left out."""
        for name in sorted({*self.jobs, *self.pods}):
            if not names.is_tombstone(self.jobs.get(name, {})) or self.pods.get(name):
                yield name

    def _events_of(self, name: str) -> list[Json]:
        """Return what was told of a workload and of what was made of it: all that begins with its name."""
        return [event for event in self.events if _is_about(event, name)]

    def _admission(self, job: Json | None) -> str:
        labels = (job or {}).get("metadata", {}).get("labels") or {}
        queue = labels.get(names.QUEUE)
        if job is None or not queue or not job["spec"].get("suspend"):
            return ""
        return queueing.why_waiting(queue, queueing.workload_of(job, self.workloads))


def take(
    kube: Kube, place: Place, forms: Iterable[Form], *, now: Callable[[], datetime],
    nodes: Callable[[], list[Json]] = list,
) -> Snapshot:  # fmt: skip
    """List what is ours; kinds beside the Job that we may not see, or that are gone, are no fault of the cluster.

    `nodes` gives the nodes, which a large cluster has many of, as of not long ago; it is asked where pods run.

    The pods are listed before the workloads: a pod seen without its workload is then really without it, and not one
    whose workload was made between the two lists.

    Raises:
        KubeError: Pods or workloads cannot be seen; the explaining kinds may be missing.
    """
    ours = names.selector(owner=place.owner)
    pods: dict[str, list[Json]] = defaultdict(list)
    for pod in kube.list(POD, place.namespace, selector=ours).items:
        pods[pod["metadata"]["labels"].get(names.WORKLOAD, "")].append(pod)
    jobs, kinds, items, listed = {}, {}, {}, set()
    for form in forms:
        found = _of_form(kube, form, place.namespace, ours)
        if found is None:
            continue
        listed.add(form.kind.name)
        for item in found:
            name = item["metadata"]["name"]
            jobs[name], kinds[name], items[name] = form.as_job(item), form.kind, item
    needs_words = any(_needs_words(job, pods.get(name, [])) for name, job in jobs.items())
    is_queued = any(_is_queued(job) for job in jobs.values())
    has_pods = any(_is_bound(pod) for group in pods.values() for pod in group)
    return Snapshot(
        jobs=jobs,
        pods=dict(pods),
        kinds=kinds,
        items=items,
        events=optional(kube, EVENT, place.namespace, "type=Warning") if needs_words else [],
        workloads=optional(kube, WORKLOAD, place.namespace) if is_queued else [],
        nodes_not_ready=_not_ready(nodes()) if has_pods else {},
        listed=frozenset(listed),
        taken_at=now(),
    )


def _of_form(kube: Kube, form: Form, namespace: str, selector: str) -> list[Json] | None:
    """List the workloads of a form; None where they cannot be seen, which never says that there are none."""
    try:
        return kube.list(form.kind, namespace, selector=selector).items
    except KubeError as error:
        if form.kind != JOB and error.status in {403, 404}:
            return None
        raise


def optional(kube: Kube, kind: Kind, namespace: str, fields: str = "") -> list[Json]:
    """List a kind that only explains: a cluster may not serve it, or not let us see it.

    Raises:
        KubeError: The cluster cannot be seen.
    """
    try:
        return kube.list(kind, namespace, fields=fields).items
    except KubeError as error:
        if error.status in {403, 404}:
            return []
        raise


def _is_about(event: Json, name: str) -> bool:
    about = str((event.get("involvedObject") or {}).get("name") or "")
    return about == name or about.startswith(f"{name}-")


def _needs_words(job: Json, pods: list[Json]) -> bool:
    expected = int(job["spec"].get("completions") or 1)
    is_waiting = any((pod.get("status") or {}).get("phase") == "Pending" for pod in pods)
    return not job["spec"].get("suspend") and (len(pods) < expected or is_waiting)


def _is_queued(job: Json) -> bool:
    labels = job["metadata"].get("labels") or {}
    return bool(job["spec"].get("suspend")) and names.QUEUE in labels


def _is_bound(pod: Json) -> bool:
    return bool((pod.get("spec") or {}).get("nodeName"))


def _not_ready(nodes: list[Json]) -> dict[str, str]:
    found = {node["metadata"]["name"]: condition(node, "Ready") or {} for node in nodes}
    return {
        name: str(ready.get("lastTransitionTime") or "")
        for name, ready in found.items()
        if ready.get("status", "True") != "True"
    }
