"""What an attempt begins with, from the facts that are kept of its start: {} = nothing, it begins afresh.

`takes` says what it takes over of the checkpoint: its whole state, or its weights alone. Facts from before there was a
choice do not say it; then it is the whole state.
"""

from collections.abc import Mapping
from typing import Any, Literal

STATE: Literal["state"] = "state"
WEIGHTS: Literal["weights"] = "weights"


def takes(start: Mapping[str, Any] | None) -> Literal["", "state", "weights"]:
    """Return what is taken over; empty where it begins afresh."""
    if not start:
        return ""
    return WEIGHTS if start.get("takes") == WEIGHTS else STATE


def first_step(start: Mapping[str, Any] | None) -> int:
    """Return the step that training begins at: with weights alone it is 0, however far their training had come."""
    return int(start["step"]) if start and takes(start) == STATE else 0


def base_of(start: Mapping[str, Any] | None) -> int:
    """Return the checkpoint whose weights alone are taken over; 0: none."""
    return int(start["id"]) if start and takes(start) == WEIGHTS else 0


def path_of(start: Mapping[str, Any] | None, *, taking: str) -> str | None:
    """Return where the checkpoint lies, if that is what is taken over of it."""
    return str(start["path"]) if start and takes(start) == taking else None


def begins(start: Mapping[str, Any] | None) -> str:
    """Return where it begins as a part of a sentence, for the timeline."""
    if not start:
        return "from the beginning"
    if takes(start) == WEIGHTS:
        return f"at step 0 with the weights of checkpoint {start['id']}"
    return f"from step {first_step(start)}"
