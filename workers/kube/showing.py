"""What pages show of a workload and its objects: plain rows, warnings told once, secrets masked. Pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from safehold.wire import tidy
from workers.kube import drift
from workers.kube.conditions import event_time
from workers.kube.snapshot import Snapshot

Json = dict[str, Any]
MAX_WARNINGS = 50
_LONGEST = 500
MASK = "(hidden)"


@dataclass(frozen=True)
class Warned:
    """One thing that the cluster warns of; `key` is the same however often and of however many pods it is said."""

    key: str
    message: str
    at: str


@dataclass(frozen=True)
class Shown:
    """One workload as a page shows it.

    Attributes:
        rows: Its pods, as `runs.pod_table` describes them.
        warnings: Of its objects, the oldest first.
        image_ids: Digests of the images that its pods really run.
        mute: Name and node rank of pods that failed without a record of their wrapper: only their output tells why.
    """

    rows: tuple[Json, ...]
    warnings: tuple[Warned, ...]
    image_ids: tuple[str, ...]
    mute: tuple[tuple[str, int], ...] = ()


def show(snapshot: Snapshot, name: str) -> Shown:
    """Return what a page shows of a workload as of a snapshot."""
    pods, seen = snapshot.pods.get(name, []), snapshot.look(name).pods
    rows = tuple(
        {"name": pod.name, "index": pod.index, "node": pod.node, "word": pod.word, "reason": pod.reason,
         "exit_code": pod.exit_code}
        for pod in seen
    )  # fmt: skip
    warnings = tuple(_warnings(snapshot.events, name, {name, *(pod.name for pod in seen)}))
    mute = tuple((pod.name, pod.index) for pod in seen if pod.word == "failed" and not pod.record)
    return Shown(rows, warnings, tuple(drift.image_ids(pods)), mute)


def masked(item: Mapping[str, Any]) -> Json:
    """Return a Secret without what it holds."""
    return {**item, "data": dict.fromkeys(item.get("data") or {}, MASK)}


def _warnings(events: Iterable[Mapping[str, Any]], workload: str, names: set[str]) -> list[Warned]:
    ours = [event for event in events if _is_warning_of(event, names)]
    found: dict[str, Warned] = {}
    for event in sorted(ours, key=event_time):
        reason, message = str(event.get("reason") or ""), str(event.get("message") or "")
        about = str((event.get("involvedObject") or {}).get("name") or "")
        key = f"{reason}:{_same_for_all_pods(message, workload)}"
        text = str(tidy(f"{about}: {message} ({reason})"[:_LONGEST]))
        found.setdefault(key, Warned(key, text, event_time(event)))
    return list(found.values())[-MAX_WARNINGS:]


def _same_for_all_pods(message: str, workload: str) -> str:
    """Return a digest of what is said, whichever of 200 pods it is said of, and whatever the counts are just now."""
    plain = re.sub(rf"{re.escape(workload)}[-a-z0-9]*|[0-9]+", "", message)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]


def _is_warning_of(event: Mapping[str, Any], names: set[str]) -> bool:
    about = (event.get("involvedObject") or {}).get("name")
    return event.get("type") == "Warning" and about in names
