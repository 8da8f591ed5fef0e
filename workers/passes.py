"""One pass over one run: look, decide, act, until there is nothing to do but wait."""

import logging

from django.utils import timezone

from controlplane.common.errors import SafeholdError
from workers import facts, launchers, loading, locks, patience, sights
from workers.acting import Scene, Stale, carry_out
from workers.launchers.base import Observation, Presence
from workers.loading import Loaded
from workers.reconcile import decide

logger = logging.getLogger(__name__)
# The longest chain of decisions without waiting, a new attempt after a stop, has six.
MAX_ROUNDS = 10
# After these alone the world needs time, not another decision.
_WAITS_AFTER = (
    facts.AskStop,
    facts.NoteContactLost,
    facts.NoteContactRegained,
    facts.NoteReason,
    facts.RecordHandle,
    facts.Settle,
)


def reconcile_run(run_id: int) -> None:
    """Bring one run as near to what is wanted as can be done now; at once nothing if somebody is at it.

    Never raises for what is wrong with the run: that is logged, told on its timeline, and tried again.
    """
    with locks.run_lock(run_id) as is_ours:
        if not is_ours:
            return
        loaded, now = loading.load(run_id), timezone.now()
        if loaded is None or not patience.is_due(loaded.run, loaded.watch, now):
            return
        if patience.note_predecessor(loaded.run, loaded.watch, now):
            _try(loaded)


def _try(loaded: Loaded) -> None:
    try:
        _rounds(loaded)
    except SafeholdError as error:
        # Expected of a world outside: told in a line, and on the timeline of the run.
        facts = {"run_id": loaded.run.pk, "error": error.message}
        logger.warning("reconcile.not_done", extra=facts)
        patience.record_failure(loaded.run, error)
    except Exception as error:
        logger.exception("reconcile.failed", extra={"run_id": loaded.run.pk})
        patience.record_failure(loaded.run, error)


def _rounds(loaded: Loaded | None) -> None:
    before: list[facts.Action] | None = None
    for _ in range(MAX_ROUNDS):
        if loaded is None:
            return
        scene = _look(loaded)
        actions = decide(scene.facts, scene.seen, timezone.now())
        if not actions or actions == before:
            break
        if before is None:
            patience.begin(loaded.run)
        if _act(actions, scene) and all(isinstance(action, _WAITS_AFTER) for action in actions):
            before = actions
            break
        before, loaded = actions, loading.load(loaded.run.pk)
    if loaded is not None and (before is not None or _has_failed(loaded)):
        patience.finish(loaded.run)


def _has_failed(loaded: Loaded) -> bool:
    return loaded.watch is not None and loaded.watch.num_failures > 0


def _act(actions: list[facts.Action], scene: Scene) -> bool:
    """Carry the actions out in order; return False where the records had changed before the last."""
    try:
        for action in actions:
            carry_out(action, scene)
    except Stale:
        return False
    return True


def _look(loaded: Loaded) -> Scene:
    attempt = loaded.attempt
    launcher = launchers.get(attempt.launcher if attempt else loaded.run.launcher)
    seen = Observation(presence=Presence.ABSENT)
    if attempt is not None:
        seen = launcher.observe(attempt.name, attempt.handle)
        sights.keep(attempt, launcher)
    return Scene(loaded.run, attempt, loaded.facts, seen, launcher)
