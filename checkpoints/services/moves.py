"""The one way in which a checkpoint's state changes, and who hears of it."""

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from checkpoints import selectors
from checkpoints.models import Checkpoint
from checkpoints.states import USABLE, State, may_move
from checkpoints.words import word_of
from controlplane.common.errors import Conflict
from runs import live
from runs.models import Run
from runs.services import checkpoint_marks


class ForbiddenMove(Conflict):
    """The table of states has no such move."""

    code = "forbidden-move"


class StaleState(Conflict):
    """Somebody else moved the checkpoint first."""

    code = "stale-state"


@transaction.atomic
def move(*, checkpoint: Checkpoint, to: State, **changes: Any) -> None:
    """Change the state once, repeat it on the run, tell the open pages.

    Args:
        checkpoint: The row as the caller saw it; updated in place.
        to: The new state.
        changes: Other columns that change with it.

    Raises:
        ForbiddenMove: `checkpoints.states` has no such move.
        StaleState: Another worker moved it first.
    """
    old = State(checkpoint.state)
    if not may_move(old, to):
        told = _("Checkpoint %(id)s cannot go from %(old)s to %(new)s.")
        raise ForbiddenMove(told % {"id": checkpoint.pk, "old": word_of(old), "new": word_of(to)})
    changes |= {"state": to, "state_at": timezone.now()}
    rows = Checkpoint.objects.filter(pk=checkpoint.pk, state=old)
    if not rows.update(**changes):
        told = _("Checkpoint %(id)s is no longer %(state)s.")
        raise StaleState(told % {"id": checkpoint.pk, "state": word_of(old)})
    for name, value in changes.items():
        setattr(checkpoint, name, value)
    if {old, to} & USABLE:
        _repeat_on_run(checkpoint.run)
    tell(checkpoint)


def hold_run(run_id: int) -> Run:
    """Lock the run before a move that changes its recovery points: rows are locked run first everywhere."""
    return Run.objects.select_for_update(no_key=True).get(pk=run_id)


def _repeat_on_run(run: Run) -> None:
    newest = selectors.newest_usable(run.pk)
    step, state = (newest.step, newest.state) if newest else (None, "")
    checkpoint_marks.mark(run=run, step=step, state=state)


def tell(checkpoint: Checkpoint) -> None:
    """Tell the open pages once the change is kept; a hint, they ask the server again."""
    told = partial(live.publish, checkpoint.run_id, "checkpoint", facts(checkpoint))
    transaction.on_commit(told, robust=True)


def facts(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what a message or an event says of it."""
    return {"id": checkpoint.pk, "step": checkpoint.step, "state": str(checkpoint.state)}
