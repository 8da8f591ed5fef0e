"""What the pods of a workload say, one by one: a pure reading of plain JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.kube import waiting
from workers.kube.conditions import condition, container_states, is_true, main_status

Json = Mapping[str, Any]
INDEX = "batch.kubernetes.io/job-completion-index"
LONGEST = 500


@dataclass(frozen=True, kw_only=True)
class PodSeen:
    """One pod as a person reads it.

    Attributes:
        index: Node rank of the pod; -1 where it has none.
        word: pending, starting, running, lost, ending, succeeded, failed.
        reason: Why it waits, or how it ended: a sentence, may be empty.
        exit_code: Of the trainer; None while it runs or where it left none.
        is_taken_away: The cluster took it: eviction, preemption, drain, node failure.
        record: What its wrapper left as termination message; empty where it left none.
        stuck_since: Since when it waits for what does not come by itself; empty where it does not.
        is_ending: It was deleted, and has its grace.
    """

    name: str
    index: int
    node: str
    word: str
    reason: str = ""
    exit_code: int | None = None
    is_taken_away: bool = False
    record: Json = field(default_factory=dict)
    stuck_since: str = ""
    is_ending: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more, as far as its node could tell."""
        return self.word in {"succeeded", "failed"}


def read(pod: Json, events: Sequence[Json], not_ready: frozenset[str]) -> PodSeen:
    """Read one pod.

    Args:
        pod: As listed.
        events: They explain, they never decide.
        not_ready: Names of the nodes that do not answer.
    """
    metadata = pod["metadata"]
    node = str((pod.get("spec") or {}).get("nodeName") or "")
    word, reason = _word(pod, events, node in not_ready)
    terminated = container_states(main_status(pod)).get("terminated") or {}
    index = (metadata.get("annotations") or {}).get(INDEX)
    return PodSeen(
        name=str(metadata["name"]),
        index=int(index) if index is not None else -1,
        node=node,
        word=word,
        reason=reason[:LONGEST],
        exit_code=terminated.get("exitCode"),
        is_taken_away=_is_taken_away(pod) and (word in {"failed", "lost", "ending"}),
        record=_record(terminated.get("message"), str(metadata["name"])),
        stuck_since=_stuck_since(pod, reason) if word == "starting" else "",
        is_ending="deletionTimestamp" in metadata,
    )


def _word(pod: Json, events: Sequence[Json], is_node_lost: bool) -> tuple[str, str]:
    phase = str((pod.get("status") or {}).get("phase") or "Pending")
    if phase == "Succeeded":
        return "succeeded", ""
    if phase == "Failed":
        return "failed", waiting.why_ended(pod)
    is_silent = (condition(pod, "Ready") or {}).get("reason") == "NodeNotReady"
    if phase == "Running" and (is_node_lost or is_silent):
        return "lost", "its pods may still run there."
    if "deletionTimestamp" in pod["metadata"]:
        return "ending", "It is ending within its grace period."
    if phase == "Running":
        return "running", ""
    is_bound = bool((pod.get("spec") or {}).get("nodeName"))
    return ("starting" if is_bound else "pending"), waiting.why_pending(pod, events)


def _stuck_since(pod: Json, reason: str) -> str:
    """Return when the kubelet took a pod that can never start; one that only lacks devices never counts."""
    is_stuck = waiting.never_starts(pod) or reason.startswith(waiting.MOUNT_FAILURE)
    started = (pod.get("status") or {}).get("startTime")
    return str(started or pod["metadata"].get("creationTimestamp") or "") if is_stuck else ""


def _is_taken_away(pod: Json) -> bool:
    status = pod.get("status") or {}
    if is_true(pod, "DisruptionTarget"):
        return True
    if status.get("reason") in {"Evicted", "Preempting", "NodeLost", "NodeShutdown", "Terminated"}:
        return True
    terminated = container_states(main_status(pod)).get("terminated") or {}
    return terminated.get("reason") == "ContainerStatusUnknown"


def _record(message: object, pod: str) -> Json:
    """Read the wrapper's record; anything else in the message was written by the user's program.

    Where the wrapper could not write the message, Kubernetes takes the end of the output: its last line is the record.
    """
    lines = message.strip().splitlines() if isinstance(message, str) else []
    try:
        record = json.loads(lines[-1]) if lines else None
    except ValueError:
        return {}
    if not isinstance(record, dict) or record.get("v") != 1:
        return {}
    return record if record.get("pod") in (None, pod) else {}
