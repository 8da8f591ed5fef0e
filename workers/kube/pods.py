"""What the pods of a workload say, one by one: a pure reading of plain JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safehold.wire import tidy
from workers import exit_records
from workers.kube import waiting
from workers.kube.conditions import (
    condition,
    container_states,
    has_others_running,
    is_true,
    main_status,
)

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
        lost_since: Since when its node has not answered; empty while it does.
        is_lingering: Its trainer ended, and containers that somebody put beside it run on.
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
    lost_since: str = ""
    is_lingering: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more, as far as its node could tell."""
        return self.word in {"succeeded", "failed"} and not self.is_lingering


def read(pod: Json, events: Sequence[Json], not_ready: Mapping[str, str]) -> PodSeen:
    """Read one pod.

    Args:
        pod: As listed.
        events: They explain, they never decide.
        not_ready: The nodes that do not answer, and since when.
    """
    metadata = pod["metadata"]
    node = str((pod.get("spec") or {}).get("nodeName") or "")
    lost_since = not_ready.get(node) or silent_since(pod)
    word, reason = _word(pod, events, is_lost=node in not_ready or bool(lost_since))
    terminated = container_states(main_status(pod)).get("terminated") or {}
    index = (metadata.get("annotations") or {}).get(INDEX)
    return PodSeen(
        name=str(metadata["name"]),
        index=int(index) if index is not None else -1,
        node=node,
        word=word,
        reason=str(tidy(reason[:LONGEST])),
        exit_code=terminated.get("exitCode"),
        is_taken_away=_is_taken_away(pod) and (word in {"failed", "lost", "ending"}),
        record=_record(terminated.get("message"), str(metadata["name"])),
        stuck_since=_stuck_since(pod, reason) if word == "starting" else "",
        is_ending="deletionTimestamp" in metadata,
        lost_since=lost_since if word == "lost" else "",
        is_lingering=_is_lingering(pod),
    )


def silent_since(pod: Json) -> str:
    """Return since when the node of a pod has been silent, by the pod alone; empty while it is not.

    A kubelet takes Ready from its containers; the node controller takes it away and leaves everything else as it was.
    """
    ready, status = condition(pod, "Ready") or {}, pod.get("status") or {}
    if ready.get("status") != "False" or status.get("phase") != "Running":
        return ""
    containers = status.get("containerStatuses") or []
    is_taken = bool(containers) and all(one.get("ready") for one in containers)
    is_gated = ready.get("reason") == "ReadinessGatesNotReady"
    if ready.get("reason") != "NodeNotReady" and (is_gated or not is_taken):
        return ""
    return str(ready.get("lastTransitionTime") or pod["metadata"].get("creationTimestamp") or "")


def _is_lingering(pod: Json) -> bool:
    is_running = (pod.get("status") or {}).get("phase") == "Running"
    ended = "terminated" in container_states(main_status(pod))
    return is_running and ended and has_others_running(pod)


def _word(pod: Json, events: Sequence[Json], *, is_lost: bool) -> tuple[str, str]:
    phase = str((pod.get("status") or {}).get("phase") or "Pending")
    if phase == "Succeeded":
        return "succeeded", ""
    if phase == "Failed":
        return "failed", waiting.why_ended(pod)
    if phase == "Running" and is_lost:
        return "lost", "its pods may still run there."
    if _is_lingering(pod):
        code = container_states(main_status(pod))["terminated"].get("exitCode")
        return ("failed", waiting.why_ended(pod)) if code else ("succeeded", "")
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
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict) or record.get("v") != 1 or record.get("pod") not in (None, pod):
        return {}
    return exit_records.cleaned(record)
