"""How a workload ended, or why it never will begin: pure functions over a Job and its pods."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from workers.kube import names
from workers.kube.conditions import condition, is_true
from workers.kube.pods import PodSeen

Json = Mapping[str, Any]


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
        return record | {"outcome": "failed", "message": _failure(min(failed, key=_blame))}
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


def _blame(pod: PodSeen) -> tuple[int, str]:
    """Order failed pods by how likely they are the cause: the others mostly fail because a peer is gone.

    A pod whose wrapper left no record was ended from outside, as for its memory; else the first one to end is it.
    """
    return (1, str(pod.record.get("ended_at") or "")) if pod.record else (0, "")


def _failure(pod: PodSeen) -> str:
    told = str(pod.record.get("message") or "")
    return told or f"Pod {pod.name} (node rank {pod.index}): {pod.reason}"


def lingering_record(job: Json, pods: Sequence[PodSeen]) -> dict[str, Any]:
    """Return the exit record where all trainers ended and their pods are held up by containers of others; else {}.

    A sidecar that never ends would hold the devices for ever: the Job waits for whole pods.
    """
    expected = int(job["spec"].get("completions") or 1)
    is_over = len(pods) >= expected and all(pod.word in {"succeeded", "failed"} for pod in pods)
    if not is_over or not any(pod.is_lingering for pod in pods):
        return {}
    is_good = all(pod.word == "succeeded" for pod in pods)
    condition = {"type": "Complete" if is_good else "Failed", "status": "True"}
    return exit_record({**job, "status": {"conditions": [condition]}}, pods)


def why_never(job: Json, pods: Sequence[PodSeen], now: datetime) -> str:
    """Return why the workload will never run, or an empty text while it may.

    An init container that failed ends the attempt at once, though the Job may retry for long; what a pod waits for
    in vain, an image or a volume, does so after the time that the config allows.
    """
    for pod in pods:
        has_bad_start = pod.word == "failed" and pod.exit_code is None
        if has_bad_start and pod.reason.startswith("Init container"):
            return f"{pod.reason} (pod {pod.name})"
    allowed = _pending_seconds(job)
    for pod in pods:
        if allowed and pod.stuck_since and _age(pod.stuck_since, now) >= allowed:
            return f"Pod {pod.name} could not start for {allowed} s. {pod.reason}"
    return ""


def _pending_seconds(job: Json) -> int:
    text = (job["metadata"].get("annotations") or {}).get(names.PENDING_SECONDS, "")
    return int(text) if str(text).isdecimal() else 0


def _age(since: str, now: datetime) -> float:
    at = datetime.fromisoformat(since)
    return (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()
