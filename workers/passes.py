"""One pass over one run: look, decide, act, until there is nothing to do but wait."""

import logging

from django.utils import timezone

from runs.models import Run
from workers import facts, launchers, loading, locks, patience
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
        run = Run.objects.filter(pk=run_id).first()
        now = timezone.now()
        if run is None or not patience.is_due(run, now):
            return
        if patience.note_predecessor(run, now):
            _try(run)


def _try(run: Run) -> None:
    try:
        _rounds(run)
    except Exception as error:
        logger.exception("reconcile.failed", extra={"run_id": run.pk})
        patience.record_failure(run, error)


def _rounds(run: Run) -> None:
    has_begun = False
    before: list[facts.Action] = []
    for _ in range(MAX_ROUNDS):
        loaded = loading.load(run.pk)
        if loaded is None:
            return
        scene = _look(loaded)
        actions = decide(scene.facts, scene.seen, timezone.now())
        if not actions or actions == before:
            break
        if not has_begun:
            patience.begin(run)
            has_begun = True
        if _act(actions, scene) and all(isinstance(action, _WAITS_AFTER) for action in actions):
            break
        before = actions
    if has_begun:
        patience.finish(run)


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
    return Scene(loaded.run, attempt, loaded.facts, seen, launcher)
