"""What a cluster holds, from its last survey: devices by type, used and free. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class DeviceType:
    """The devices of one type.

    Attributes:
        total: On all nodes.
        ours: Held by pods in our namespace.
        out: On nodes that do not answer or take no pods, not held by us.
        free: Neither; others may hold some of them, which we cannot see.
    """

    name: str
    total: int
    ours: int
    out: int

    @property
    def free(self) -> int:
        """What is left for us at most."""
        return max(0, self.total - self.ours - self.out)

    @property
    def ours_percent(self) -> int:
        """Ours as a share of all, for a bar."""
        return round(100 * self.ours / self.total) if self.total else 0

    @property
    def out_percent(self) -> int:
        """Those out of use as a share of all, at the end of the bar."""
        return round(100 * self.out / self.total) if self.total else 0

    @property
    def out_from_percent(self) -> int:
        """Where in the bar those out of use begin."""
        return 100 - self.out_percent


def device_types(survey: Mapping[str, Any]) -> list[DeviceType]:
    """Return the types of devices, the most numerous first; none where we may not see the nodes."""
    nodes = [node for node in survey.get("nodes") or [] if node["num_devices"]]
    names = {node["device"] for node in nodes}
    types = [_of([node for node in nodes if node["device"] == name], name) for name in names]
    return sorted(types, key=lambda one: (-one.total, one.name))


def nodes_of(survey: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes, those in trouble first, then by name, each with the word of its state."""
    nodes = [{**node, "word": _word(node)} for node in survey.get("nodes") or []]
    return sorted(nodes, key=lambda node: (node["word"] == "ready", node["name"]))


def _of(nodes: Iterable[Mapping[str, Any]], name: str) -> DeviceType:
    nodes = list(nodes)
    out = sum(node["num_devices"] - node["num_ours"] for node in nodes if _word(node) != "ready")
    return DeviceType(
        name=name or "devices",
        total=sum(node["num_devices"] for node in nodes),
        ours=sum(node["num_ours"] for node in nodes),
        out=max(0, out),
    )


def _word(node: Mapping[str, Any]) -> str:
    if not node["is_ready"]:
        return "not_ready"
    return "ready" if node["is_schedulable"] else "cordoned"
