"""From which checkpoint a run goes on: the registry knows, and lies above this app, so it registers itself."""

from collections.abc import Callable, Mapping
from typing import Any

from runs.models import Run

# {"id", "path", "run", "step"} of a checkpoint, or None where the run has none that may be used.
Provider = Callable[[Run], Mapping[str, Any] | None]
_provider: Provider | None = None
KEYS = ("id", "path", "run", "step")


def register(provider: Provider) -> None:
    """Name the function that picks the checkpoint; called once, when the registry's app is ready."""
    global _provider
    _provider = provider


def newest(run: Run) -> dict[str, Any]:
    """Return the newest checkpoint that the run may resume from, or {} where there is none."""
    found = _provider(run) if _provider is not None else None
    return cleaned(found)


def cleaned(checkpoint: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the four facts of a checkpoint, or {}.

    Raises:
        ValueError: One of them is missing or of the wrong kind.
    """
    if not checkpoint:
        return {}
    missing = [key for key in KEYS if checkpoint.get(key) is None]
    if missing:
        raise ValueError(f"from_checkpoint lacks {', '.join(missing)}.")
    facts = {key: checkpoint[key] for key in KEYS}
    if not isinstance(facts["step"], int) or facts["step"] < 0:
        raise ValueError(f"from_checkpoint.step is {facts['step']!r}, not a step.")
    return facts | {"path": str(facts["path"])}
