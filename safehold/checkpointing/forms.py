"""Whether a JSON document of a checkpoint has the form that Safehold writes.

No torch here: the checks ask too. A document of another form has the right digest all the same, where whoever
wrote the manifest wrote it so.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_state(document: Any) -> TypeGuard[dict[str, Any]]:
    """Say whether it holds the state of a scheduler, sampler, scaler or random generator."""
    return isinstance(document, dict) and "state" in document


def is_optimizer(document: Any) -> TypeGuard[dict[str, Any]]:
    """Say whether it holds an optimizer's class, groups, numbers and steps."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("class"), str)
        and isinstance(document.get("groups"), list)
        and all(map(_is_group, document["groups"]))
        and isinstance(document.get("scalars"), dict)
        and all(isinstance(values, dict) for values in document["scalars"].values())
        and isinstance(document.get("steps"), dict)
        and all(step is None or type(step) is int for step in document["steps"].values())
    )


def _is_group(group: Any) -> bool:
    return (
        isinstance(group, dict)
        and isinstance(group.get("parameters"), list)
        and all(isinstance(name, str) for name in group["parameters"])
        and isinstance(group.get("settings"), dict)
    )
