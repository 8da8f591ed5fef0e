"""Reading parts of objects that may be missing, null or of a newer version."""

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
# How the trainer's container is called: by us, and by the runtimes of Kubeflow Trainer. Statuses are sorted by name,
# so a sidecar that a webhook put in may stand before it.
_TRAINERS = ("trainer", "node")


def condition(item: Json, type_: str) -> Json | None:
    """Return the condition of that type whatever its status; a condition that is False is no end."""
    for found in (item.get("status") or {}).get("conditions") or []:
        if found.get("type") == type_:
            return dict(found)
    return None


def is_true(item: Json, type_: str) -> bool:
    """Whether the condition is there with status True."""
    return (condition(item, type_) or {}).get("status") == "True"


def main_status(pod: Json) -> Json:
    """Return the status of the trainer's container; an evicted pod has none."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    ours = [status for status in statuses if status.get("name") in _TRAINERS]
    return dict((ours or statuses)[0]) if statuses else {}


def main_container(pod: Json) -> str:
    """Return the name of the trainer's container, as its specification has it."""
    names = [str(one.get("name")) for one in (pod.get("spec") or {}).get("containers") or []]
    ours = [name for name in names if name in _TRAINERS]
    return (ours or names or [_TRAINERS[0]])[0]


def has_others_running(pod: Json) -> bool:
    """Whether containers beside the trainer's run: those that somebody put in, and that end by themselves or never."""
    name = main_status(pod).get("name")
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any("running" in (one.get("state") or {}) for one in statuses if one.get("name") != name)


def init_statuses(pod: Json) -> list[Json]:
    """Return the statuses of the init containers."""
    return list((pod.get("status") or {}).get("initContainerStatuses") or [])


def container_states(status: Json) -> Json:
    """Return the state of a container; after a restart the last end counts where none is now."""
    state = dict(status.get("state") or {})
    last = status.get("lastState") or {}
    if "terminated" not in state and "terminated" in last and "running" not in state:
        state["terminated"] = last["terminated"]
    return state


def event_time(event: Json) -> str:
    """Return when an event last happened, as text that sorts.

    The scheduler's events have `eventTime` (and `series`), those of the kubelet and the Job controller the old fields.
    """
    series = event.get("series") or {}
    return str(
        series.get("lastObservedTime")
        or event.get("eventTime")
        or event.get("lastTimestamp")
        or (event.get("metadata") or {}).get("creationTimestamp")
        or ""
    )
