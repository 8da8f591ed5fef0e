"""From which checkpoint a run goes on: the registry knows, and lies above this app, so it registers itself."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import NotFound
from runs import starts
from runs.models import Attempt, Run

# {"id", "path", "run", "step"} of a checkpoint, or None where the run has none that may be used; with
# {"takes": "weights"} beside them its weights alone are taken over (`runs.starts`).
Provider = Callable[[Run], Mapping[str, Any] | None]
# The same facts of one checkpoint, by its id and the project that it must belong to.
Finder = Callable[[int, int], Mapping[str, Any]]
# Keeps from which checkpoint a new attempt begins, in the transaction that creates it.
Recorder = Callable[[Attempt], None]
_provider: Provider | None = None
_finder: Finder | None = None
_recorder: Recorder | None = None
KEYS = ("id", "path", "run", "step")


def register(
    provider: Provider, *, finder: Finder | None = None, recorder: Recorder | None = None
) -> None:
    """Name the functions of the registry; called once, when its app is ready."""
    global _provider, _finder, _recorder
    _provider, _finder, _recorder = provider, finder, recorder


def newest(run: Run) -> dict[str, Any]:
    """Return the newest checkpoint that the run may resume from, or {} where there is none."""
    found = _provider(run) if _provider is not None else None
    return cleaned(found)


def find(checkpoint_id: int, *, project_id: int) -> dict[str, Any]:
    """Return the facts of a checkpoint that a run of this project may begin from.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is not proved whole.
    """
    if _finder is None:
        raise NotFound(_("There is no checkpoint %(id)s in this project.") % {"id": checkpoint_id})
    return cleaned(_finder(checkpoint_id, project_id))


def record_start(attempt: Attempt) -> None:
    """Have the registry keep from which checkpoint the attempt begins; nothing for a fresh start."""
    if _recorder is not None and attempt.start_checkpoint:
        _recorder(attempt)


def cleaned(checkpoint: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the four facts of a checkpoint, and what is taken over of it if that is its weights alone; or {}.

    Raises:
        ValueError: One of them is missing or of the wrong kind.
    """
    if not checkpoint:
        return {}
    missing = [key for key in KEYS if checkpoint.get(key) is None]
    if missing:
        raise ValueError(_("from_checkpoint lacks %(keys)s.") % {"keys": ", ".join(missing)})
    facts = {key: checkpoint[key] for key in KEYS}
    if not isinstance(facts["step"], int) or facts["step"] < 0:
        raise ValueError(
            _("from_checkpoint.step is %(step)s, not a step.") % {"step": repr(facts["step"])}
        )
    only = {"takes": starts.WEIGHTS} if starts.takes(checkpoint) == starts.WEIGHTS else {}
    return facts | {"path": str(facts["path"])} | only
