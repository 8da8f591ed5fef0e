"""What a cluster offers: its version, its devices by type, its nodes' health, its queues."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workers.kube.api import Kube
from workers.kube.conditions import condition
from workers.kube.errors import KubeError
from workers.kube.kinds import LOCAL_QUEUE, NODE, POD, Kind

Json = Mapping[str, Any]
# Labels by which device plugins and feature discovery tell the type of a device, the most telling first.
_PRODUCT_LABELS = (
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "node.kubernetes.io/instance-type",
)
DEVICES = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "google.com/tpu")


@dataclass(frozen=True, kw_only=True)
class NodeSeen:
    """One node: its devices, how many of them our pods hold, and whether it can take more."""

    name: str
    device: str
    num_devices: int
    num_ours: int
    is_ready: bool
    is_schedulable: bool
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """One look at a whole cluster; `nodes` is None where we may not see them."""

    version: str
    groups: frozenset[str]
    nodes: tuple[NodeSeen, ...] | None
    queues: tuple[str, ...]

    @property
    def capacity(self) -> dict[str, int]:
        """Devices by type on the nodes that are ready and take pods."""
        found: Counter[str] = Counter()
        for node in self.nodes or ():
            if node.is_ready and node.is_schedulable and node.num_devices:
                found[node.device] += node.num_devices
        return dict(found)


def survey(kube: Kube, namespace: str) -> Survey:
    """Look at a cluster; what we may not see is left out.

    Raises:
        KubeError: The cluster cannot be reached.
    """
    version, groups = kube.version(), kube.groups()
    nodes = _optional(kube, NODE, "")
    pods = kube.list(POD, namespace).items
    queues: list[Json] = []
    if LOCAL_QUEUE.group in groups:
        queues = _optional(kube, LOCAL_QUEUE, namespace) or []
    return Survey(
        version=version,
        groups=groups,
        nodes=None if nodes is None else tuple(_node(node, pods) for node in nodes),
        queues=tuple(sorted(queue["metadata"]["name"] for queue in queues)),
    )


def _optional(kube: Kube, kind: Kind, namespace: str) -> list[Json] | None:
    try:
        return list(kube.list(kind, namespace).items)
    except KubeError as error:
        if error.status in {403, 404}:
            return None
        raise


def _node(node: Json, pods: Iterable[Json]) -> NodeSeen:
    name, spec = str(node["metadata"]["name"]), node.get("spec") or {}
    labels = node["metadata"].get("labels") or {}
    ready = condition(node, "Ready") or {}
    resource, count = _devices((node.get("status") or {}).get("allocatable") or {})
    is_ready = ready.get("status") == "True"
    return NodeSeen(
        name=name,
        device=next((labels[key] for key in _PRODUCT_LABELS if key in labels), resource),
        num_devices=count,
        num_ours=sum(_asked(pod, resource) for pod in pods if _runs_on(pod, name)),
        is_ready=is_ready,
        is_schedulable=not spec.get("unschedulable"),
        reason="" if is_ready else str(ready.get("message") or ready.get("reason") or "not ready"),
    )


def _devices(allocatable: Mapping[str, str]) -> tuple[str, int]:
    for resource in DEVICES:
        if resource in allocatable:
            return resource, int(allocatable[resource])
    return "", 0


def _runs_on(pod: Json, node: str) -> bool:
    is_here = (pod.get("spec") or {}).get("nodeName") == node
    return is_here and (pod.get("status") or {}).get("phase") in {"Pending", "Running"}


def _asked(pod: Json, resource: str) -> int:
    limits = [(c.get("resources") or {}).get("limits") or {} for c in pod["spec"]["containers"]]
    return sum(int(limit.get(resource, 0)) for limit in limits)
