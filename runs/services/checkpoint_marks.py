"""What lists of runs say of checkpoints: the registry writes it here, so that no list asks it."""

from functools import partial

from django.db import transaction

from runs import live
from runs.models import Run


@transaction.atomic
def mark(*, run: Run, step: int | None, state: str) -> None:
    """Repeat the newest recovery point on the run, and tell the open lists when it changed.

    Args:
        run: The run; updated in place.
        step: Its step; None where the run has none.
        state: `verified` or `stable`; empty without one.
    """
    changed = Run.objects.filter(pk=run.pk).exclude(checkpoint_step=step, checkpoint_state=state)
    if not changed.update(checkpoint_step=step, checkpoint_state=state):
        return
    run.checkpoint_step, run.checkpoint_state = step, state
    row = {"checkpoint_step": step, "checkpoint_state": state}
    transaction.on_commit(partial(live.publish_row, run.project_id, run.pk, row), robust=True)
