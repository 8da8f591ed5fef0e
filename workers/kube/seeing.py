"""What the objects of a workload say, in one judgement: a pure function over plain JSON.

The whole workload counts, never a single code or phase: conditions with status True, reasons, which container it was,
and the wrapper's own record in the termination message. docs/explanation/kubernetes.md gives the rules.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from workers.kube import waiting
from workers.kube.conditions import condition, container_states, is_true, main_status
from workers.launchers.base import Observation, Presence

Json = Mapping[str, Any]
INDEX = "batch.kubernetes.io/job-completion-index"
_LONGEST = 500


@dataclass(frozen=True, kw_only=True)
class PodSeen:
    """One pod as a person reads it.

    Attributes:
        index: Node rank of the pod; -1 where it has none.
        word: pending, starting, running, lost, ending, succeeded, failed.
        reason: Why it waits, or how it ended: a sentence, may be empty.
        exit_code: Of the trainer; None while it runs or where it left none.
        is_taken_away: The cluster took it: eviction, preemption, drain, node failure.
    """

    name: str
    index: int
    node: str
    word: str
    reason: str = ""
    exit_code: int | None = None
    is_taken_away: bool = False
    record: Json = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more, as far as its node could tell."""
        return self.word in {"succeeded", "failed"}


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look at one workload: the judgement, and the pods behind it."""

    observation: Observation
    pods: tuple[PodSeen, ...] = ()


def look(
    job: Json | None,
    pods: Sequence[Json],
    *,
    events: Sequence[Json] = (),
    nodes_not_ready: frozenset[str] = frozenset(),
    admission: str = "",
    is_fenced: bool = False,
    now: datetime,
) -> Look:
    """Judge a workload.

    Args:
        job: The Job as listed, or None when it is not there.
        pods: The pods with its labels, whoever owns them.
        events: Events of the Job and its pods, any order: they explain, they never decide.
        nodes_not_ready: Names of nodes that do not answer.
        admission: Why a queue has not admitted it, in words; empty where none holds it.
        is_fenced: The name is occupied by a tombstone.
        now: The observer's clock.
    """
    seen = tuple(sorted((_pod(pod, events, nodes_not_ready) for pod in pods), key=_place))
    told = _judge(job, seen, events, admission)
    observation = Observation(
        presence=told.presence,
        reason=told.reason[:_LONGEST],
        exit=told.exit,
        where=_where(seen),
        seen_at=now.astimezone(UTC),
        is_fenced=is_fenced,
        num_survivors=told.num_survivors,
        handle={"uid": job["metadata"]["uid"]} if job else {},
    )
    return Look(observation=observation, pods=seen)


@dataclass(frozen=True)
class _Told:
    presence: Presence
    reason: str = ""
    exit: Json | None = None
    num_survivors: int = 0


def _judge(
    job: Json | None, pods: tuple[PodSeen, ...], events: Sequence[Json], admission: str
) -> _Told:
    live = [pod for pod in pods if not pod.is_over]
    if job is None:
        # Pods without their Job train on as orphans; they are gone only when no pod is listed.
        reason = f"The Job is gone and {len(live)} of its pods are left." if live else ""
        return _Told(Presence.ABSENT, reason, num_survivors=len(live))
    if is_true(job, "Complete") or is_true(job, "Failed"):
        return _Told(Presence.EXITED, exit=exit_record(job, pods), num_survivors=len(live))
    if ended := _cannot_start(pods):
        return ended
    if is_true(job, "SuccessCriteriaMet") or is_true(job, "FailureTarget"):
        return _Told(Presence.RUNNING, f"It is ending: {_why_ending(job)}")
    if "deletionTimestamp" in job["metadata"]:
        return _Told(Presence.RUNNING, f"It is being deleted; {len(live)} pods are left.")
    if job["spec"].get("suspend"):
        return _Told(Presence.PENDING, admission or "It is suspended until its queue admits it.")
    return _unfinished(job, pods, events)


def _unfinished(job: Json, pods: tuple[PodSeen, ...], events: Sequence[Json]) -> _Told:
    expected = int(job["spec"].get("completions") or 1)
    if pods and all(pod.word == "succeeded" for pod in pods) and len(pods) >= expected:
        return _Told(Presence.RUNNING, "All pods succeeded; the Job is finishing.")
    if lost := [pod for pod in pods if pod.word == "lost"]:
        return _Told(Presence.RUNNING, f"Node {lost[0].node} does not answer; {lost[0].reason}")
    if failed := [pod for pod in pods if pod.word == "failed"]:
        return _Told(Presence.RUNNING, f"Pod {failed[0].name} failed: {failed[0].reason}")
    waiting_pods = [pod for pod in pods if pod.word in {"pending", "starting"}]
    if len(pods) < expected:
        reason = waiting.why_no_pods(events) or f"{len(pods)} of {expected} pods exist."
        return _Told(Presence.PENDING, reason)
    if waiting_pods:
        return _Told(Presence.PENDING, _why_waiting(waiting_pods, expected))
    return _Told(Presence.RUNNING)


def _cannot_start(pods: tuple[PodSeen, ...]) -> _Told | None:
    """An init container that failed ends the attempt at once, though the Job may retry for long."""
    for pod in pods:
        if (
            pod.word == "failed"
            and pod.exit_code is None
            and pod.reason.startswith("Init container")
        ):
            message = f"{pod.reason} (pod {pod.name})"
            return _Told(
                Presence.EXITED, message,
                exit={"v": 1, "outcome": "could_not_start", "message": message, "ranks": {}},
                num_survivors=sum(not other.is_over for other in pods),
            )  # fmt: skip
    return None


def exit_record(job: Json, pods: Sequence[PodSeen]) -> dict[str, Any]:
    """Return the exit record of a finished Job, put together from its pods' own records.

    The wrapper's record says what happened inside; conditions say what was done from outside, and go first:
    a pod that was preempted has exit code 137 like one that ran out of memory.
    """
    end = condition(job, "Failed") or condition(job, "Complete") or {}
    ended_at = str(
        end.get("lastTransitionTime") or job.get("status", {}).get("completionTime") or ""
    )
    record: dict[str, Any] = {"v": 1, "ended_at": ended_at, "ranks": {}, "signal": None}
    for pod in pods:
        record["ranks"] |= dict(pod.record.get("ranks") or {})
    taken = [pod for pod in pods if pod.is_taken_away]
    failed = [pod for pod in pods if pod.word == "failed"]
    reason = str(end.get("reason") or "")
    if taken:
        return record | {"outcome": "taken_away", "message": f"{taken[0].name}: {taken[0].reason}"}
    if reason == "DeadlineExceeded":
        return record | {
            "outcome": "failed",
            "message": "The time limit of the attempt was reached.",
        }
    if failed:
        return record | {"outcome": "failed", "message": _failure(failed[0])}
    if is_true(job, "Complete"):
        told = {str(pod.record.get("outcome") or "finished") for pod in pods} or {"finished"}
        outcome = "stopped" if "stopped" in told else "finished"
        messages = [str(pod.record["message"]) for pod in pods if pod.record.get("message")]
        return record | {"outcome": outcome, "message": messages[0] if messages else ""}
    message = f"The Job failed ({reason}) and its pods are gone." if reason else "The Job failed."
    if reason == "BackoffLimitExceeded" and not pods:
        message = "Its pod was deleted, and with it what it could have told."
        return record | {"outcome": "taken_away", "message": message}
    return record | {"outcome": "failed", "message": message}


def _failure(pod: PodSeen) -> str:
    told = str(pod.record.get("message") or "")
    return f"Pod {pod.name} (node rank {pod.index}): {told or pod.reason}"


def _pod(pod: Json, events: Sequence[Json], not_ready: frozenset[str]) -> PodSeen:
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
        reason=reason[:_LONGEST],
        exit_code=terminated.get("exitCode"),
        is_taken_away=_is_taken_away(pod) and (word in {"failed", "lost", "ending"}),
        record=_record(terminated.get("message"), str(metadata["name"])),
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


def _why_waiting(pods: Sequence[PodSeen], expected: int) -> str:
    reason = next((pod.reason for pod in pods if pod.reason), "Its pods are starting.")
    return reason if len(pods) == expected else f"{len(pods)} of {expected} pods wait. {reason}"


def _why_ending(job: Json) -> str:
    found = condition(job, "FailureTarget") or condition(job, "SuccessCriteriaMet") or {}
    return str(found.get("message") or found.get("reason") or "")


def _where(pods: Sequence[PodSeen]) -> str:
    nodes = sorted({pod.node for pod in pods if pod.node})
    return ", ".join(nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")


def _place(pod: PodSeen) -> tuple[int, str]:
    return pod.index, pod.name
