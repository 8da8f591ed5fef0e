"""What the objects of a workload say, in one judgement: a pure function over plain JSON.

The whole workload counts, never a single code or phase: conditions with status True, reasons, which container it was,
and the wrapper's own record in the termination message. docs/explanation/kubernetes.md gives the rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from safehold.wire import tidy
from workers.kube import waiting
from workers.kube.conditions import condition, is_true
from workers.kube.ending import exit_record, lingering_record, why_never
from workers.kube.pods import LONGEST, PodSeen, read
from workers.launchers.base import Observation, Presence

Json = Mapping[str, Any]
# As much as the record of an attempt keeps; a longer one would be news at every look.
LONGEST_PLACE = 200


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
    nodes_not_ready: Mapping[str, str] = MappingProxyType({}),
    admission: str = "",
    is_fenced: bool = False,
    now: datetime,
) -> Look:
    """Judge a workload.

    Args:
        job: The Job as listed, or None when it is not there.
        pods: The pods with its labels, whoever owns them.
        events: Events of the Job and its pods, any order: they explain, they never decide.
        nodes_not_ready: The nodes that do not answer, and since when.
        admission: Why a queue has not admitted it, in words; empty where none holds it.
        is_fenced: The name is occupied by a tombstone.
        now: The observer's clock.
    """
    seen = tuple(sorted((read(pod, events, nodes_not_ready) for pod in pods), key=_place))
    told = _judge(job, seen, events, admission, now)
    observation = Observation(
        presence=told.presence,
        reason=str(tidy(told.reason[:LONGEST])),
        exit=told.exit,
        where=_where(seen),
        seen_at=now.astimezone(UTC),
        is_fenced=is_fenced,
        num_survivors=told.num_survivors,
        is_suspended=told.is_suspended,
        lost_since=_lost_since(seen),
        handle={"uid": job["metadata"]["uid"]} if job else {},
    )
    return Look(observation=observation, pods=seen)


@dataclass(frozen=True)
class _Told:
    presence: Presence
    reason: str = ""
    exit: Json | None = None
    num_survivors: int = 0
    is_suspended: bool = False


def _judge(
    job: Json | None,
    pods: tuple[PodSeen, ...],
    events: Sequence[Json],
    admission: str,
    now: datetime,
) -> _Told:
    live = [pod for pod in pods if not pod.is_over]
    if job is None:
        return _without_job(live)
    if is_true(job, "Complete") or is_true(job, "Failed"):
        return _Told(Presence.EXITED, exit=exit_record(job, pods), num_survivors=len(live))
    if reason := why_never(job, pods, now):
        record = {"v": 1, "outcome": "could_not_start", "message": reason, "ranks": {}}
        return _Told(Presence.EXITED, reason, exit=record, num_survivors=max(1, len(live)))
    if record := lingering_record(job, pods):
        reason = "Its trainers ended; only containers that were put beside them run on."
        return _Told(Presence.EXITED, reason, exit=record, num_survivors=max(1, len(live)))
    if lost := [pod for pod in pods if pod.word == "lost"]:
        return _Told(Presence.RUNNING, f"Node {lost[0].node} does not answer; {lost[0].reason}")
    if is_true(job, "SuccessCriteriaMet") or is_true(job, "FailureTarget"):
        return _Told(Presence.RUNNING, f"It is ending: {_why_ending(job)}")
    if "deletionTimestamp" in job["metadata"]:
        return _Told(Presence.RUNNING, f"It is being deleted; {_left(live)}.")
    if job["spec"].get("suspend"):
        return _suspended(live, admission)
    return _unfinished(job, pods, events)


def _without_job(live: Sequence[PodSeen]) -> _Told:
    """Pods without their Job train on as orphans; they are gone only when no pod is listed."""
    if not live:
        return _Told(Presence.ABSENT)
    if all(pod.is_ending for pod in live):
        # Whoever deleted the Job let them have their grace, in which they save.
        return _Told(Presence.RUNNING, f"The Job is gone; {len(live)} of its pods are ending.")
    reason = f"The Job is gone, {_left(live)}."
    return _Told(Presence.ABSENT, reason, num_survivors=len(live))


def _left(live: Sequence[PodSeen]) -> str:
    names = ", ".join(pod.name for pod in live[:4]) + (" …" if len(live) > 4 else "")
    return f"{len(live)} of its pods are left: {names}" if live else "none of its pods is left"


def _suspended(live: Sequence[PodSeen], admission: str) -> _Told:
    """Whoever suspends a Job that runs takes its pods away; they have their grace first."""
    if live:
        return _Told(Presence.RUNNING, f"It was suspended; {len(live)} of its pods are ending.")
    reason = admission or "It is suspended until its queue admits it."
    return _Told(Presence.PENDING, reason, is_suspended=True)


def _unfinished(job: Json, pods: tuple[PodSeen, ...], events: Sequence[Json]) -> _Told:
    expected = int(job["spec"].get("completions") or 1)
    if pods and all(pod.word == "succeeded" for pod in pods) and len(pods) >= expected:
        return _Told(Presence.RUNNING, "All pods succeeded; the Job is finishing.")
    if failed := [pod for pod in pods if pod.word == "failed"]:
        return _Told(Presence.RUNNING, f"Pod {failed[0].name} failed: {failed[0].reason}")
    waiting_pods = [pod for pod in pods if pod.word in {"pending", "starting"}]
    if len(pods) < expected:
        reason = waiting.why_no_pods(events) or f"{len(pods)} of {expected} pods exist."
        return _Told(Presence.PENDING, reason)
    if waiting_pods:
        return _Told(Presence.PENDING, _why_waiting(waiting_pods, expected))
    return _Told(Presence.RUNNING)


def _why_waiting(pods: Sequence[PodSeen], expected: int) -> str:
    reason = next((pod.reason for pod in pods if pod.reason), "Its pods are starting.")
    return reason if len(pods) == expected else f"{len(pods)} of {expected} pods wait. {reason}"


def _why_ending(job: Json) -> str:
    found = condition(job, "FailureTarget") or condition(job, "SuccessCriteriaMet") or {}
    return str(found.get("message") or found.get("reason") or "")


def _where(pods: Sequence[PodSeen]) -> str:
    nodes = sorted({pod.node for pod in pods if pod.node})
    told = ", ".join(nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")
    return told if len(told) <= LONGEST_PLACE else told[: LONGEST_PLACE - 2] + " …"


def _lost_since(pods: Sequence[PodSeen]) -> datetime | None:
    """Return since when one of its nodes has been silent: without it the others cannot go on."""
    times = sorted(pod.lost_since for pod in pods if pod.lost_since)
    if not times:
        return None
    at = datetime.fromisoformat(times[0])
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _place(pod: PodSeen) -> tuple[int, str]:
    return pod.index, pod.name
