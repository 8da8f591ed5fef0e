"""Why a pod waits, cannot start, or ended: sentences for the person on call."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workers.kube.conditions import (
    condition,
    container_states,
    event_time,
    init_statuses,
    is_true,
    main_status,
)

Json = Mapping[str, Any]
# These never end by themselves.
NEVER_STARTS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
     "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"}
)  # fmt: skip
_LONGEST_LINE = 300
MOUNT_FAILURE = "A volume cannot be mounted"
_IMAGE = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
_QUOTA = re.compile(
    # Of several resources at once each list has commas of its own.
    r"exceeded quota: (?P<quota>[^,]+), requested: (?P<asked>.+?), used: (?P<used>.+?), "
    r"limited: (?P<limit>\S+)"
)
_DISRUPTIONS = {
    "PreemptionByScheduler": "It was preempted by a more important pod.",
    "DeletionByTaintManager": "Its node became unusable and the pod was taken off it.",
    "EvictionByEvictionAPI": "It was evicted, as when a node is drained.",
    "DeletionByPodGC": "Its node is gone.",
    "TerminationByKubelet": "Its node ended it (shutdown, memory or disk pressure).",
}


def why_no_pods(events: Sequence[Json]) -> str:
    """Return why the Job has no pods: a quota shows in the Job's events only."""
    refusals = [event for event in events if event.get("reason") == "FailedCreate"]
    if not refusals:
        return ""
    message = str(max(refusals, key=event_time).get("message") or "")
    if found := _QUOTA.search(message):
        return (
            f"Quota {found['quota']} is used up: it asks for {found['asked']}, "
            f"{found['used']} is in use, {found['limit']} is allowed."
        )
    return f"The cluster refuses its pods: {message}"


def why_pending(pod: Json, events: Sequence[Json] = ()) -> str:
    """Return why a pod does not run yet; empty when it is simply starting."""
    scheduled = condition(pod, "PodScheduled") or {}
    if scheduled.get("status") == "False":
        text = str(scheduled.get("message") or scheduled.get("reason") or "")
        if scheduled.get("reason") == "SchedulingGated":
            return f"Held back by a scheduling gate: {text}"
        return f"Waiting for devices: {text.split(' preemption:')[0].strip()}"
    for status in [*init_statuses(pod), main_status(pod)]:
        waiting = (status.get("state") or {}).get("waiting") or {}
        reason = str(waiting.get("reason") or "")
        if reason in _IMAGE:
            return f"The image {status.get('image', '')} cannot be pulled: {waiting.get('message') or reason}"
        if reason in NEVER_STARTS:
            return f"Container {status.get('name')} cannot start ({reason}): {waiting.get('message') or ''}".strip()
    mounts = [event for event in events if _is_mount_failure(event, pod)]
    if mounts:
        return f"{MOUNT_FAILURE}: {max(mounts, key=event_time).get('message')}"
    return ""


def never_starts(pod: Json) -> bool:
    """Whether the pod waits for something that does not come by itself."""
    states = [status.get("state") or {} for status in [*init_statuses(pod), main_status(pod)]]
    return any((state.get("waiting") or {}).get("reason") in NEVER_STARTS for state in states)


def why_ended(pod: Json) -> str:
    """Return how a failed pod ended; what was done from outside goes before its exit code."""
    status = pod.get("status") or {}
    for init in init_statuses(pod):
        ended = container_states(init).get("terminated") or {}
        if ended.get("exitCode"):
            text = str(ended.get("message") or ended.get("reason") or "").strip()
            return f"Init container {init.get('name')} failed with exit code {ended['exitCode']}: {text}"
    if is_true(pod, "DisruptionTarget"):
        found = condition(pod, "DisruptionTarget") or {}
        known = _DISRUPTIONS.get(str(found.get("reason")), "The cluster took it away.")
        details = str(status.get("message") or found.get("message") or found.get("reason") or "")
        return f"{known} {details}".strip()
    if status.get("reason"):
        return f"{status['reason']}: {status.get('message') or ''}".strip(": ")
    return _how_container_ended(pod)


def _how_container_ended(pod: Json) -> str:
    found = main_status(pod)
    ended = container_states(found).get("terminated") or {}
    if not ended:
        return "It ended without a word of its container."
    code, reason = ended.get("exitCode"), str(ended.get("reason") or "")
    if reason == "OOMKilled":
        limit = _memory_limit(pod, str(found.get("name") or ""))
        return (
            f"Its container used more host memory than its limit{f' of {limit}' if limit else ''} "
            "(OOMKilled); the same settings would end the same way."
        )
    if reason == "StartError":
        return f"Its program could not be started: {ended.get('message') or 'no such file'}"
    if reason == "ContainerStatusUnknown":
        return "Its node went away; how the container ended is not known."
    if isinstance(code, int) and code > 128:
        return f"Its container was ended by signal {code - 128} (exit code {code}, {reason})."
    return f"Its container ended with exit code {code} ({reason}).{_last_words(ended)}"


def _last_words(ended: Json) -> str:
    """Return the last line of what it printed, where Kubernetes took the output for a message."""
    lines = [line for line in str(ended.get("message") or "").splitlines() if line.strip()]
    return f" {lines[-1].strip()[:_LONGEST_LINE]}" if lines and lines[-1][0] != "{" else ""


def _memory_limit(pod: Json, container: str) -> str:
    for entry in (pod.get("spec") or {}).get("containers") or []:
        if entry.get("name") == container or not container:
            limits = (entry.get("resources") or {}).get("limits") or {}
            return str(limits.get("memory") or "")
    return ""


def _is_mount_failure(event: Json, pod: Json) -> bool:
    involved = event.get("involvedObject") or {}
    is_this = involved.get("uid") == pod["metadata"].get("uid")
    return is_this and event.get("reason") in {"FailedMount", "FailedAttachVolume"}
