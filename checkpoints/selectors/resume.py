"""From which checkpoint a run goes on."""

from django.utils.translation import gettext as _

from checkpoints import line
from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.states import MAY_BEGIN, State
from checkpoints.words import word_of
from controlplane.common.errors import Conflict
from runs.models import Run
from runs.states import Outcome

# After these nothing went wrong with the training itself: the newest proved state is the right one.
_CLEAN_ENDS = {Outcome.STOPPED, Outcome.FINISHED}


class NoRecoveryPoint(Conflict):
    """The run trained and saved, but nothing it saved is proved whole; starting afresh would lose it."""

    code = "no-recovery-point"


def newest_for_resume(run: Run) -> Checkpoint | None:
    """Return the checkpoint from which the run goes on; None when it has nothing to go on from.

    After a failure that is the newest stable one, else the newest verified one. After a clean stop it
    is the newest of all that are not damaged: the last save, even while its proof is under way. Own
    ones come first, then the checkpoint that the run was forked from.

    Raises:
        NoRecoveryPoint: There are saves, or a fork origin, but none may be used.
    """
    newest = run.attempts.only("number", "outcome").first()
    if newest is not None:
        is_clean = newest.outcome in _CLEAN_ENDS
        chosen = line.choose(
            _points(run, is_clean=is_clean),
            newest_attempt=newest.number,
            starts=_starts(run),
            prefer_stable=not is_clean,
        )
        if chosen:
            return _usable(run, chosen)
    if run.forked_from_checkpoint:
        return _usable(run, run.forked_from_checkpoint)
    _refuse_unproved(run)
    return None


def can_resume(run: Run) -> bool:
    """Whether a new attempt may begin from a checkpoint of the person's choice."""
    newest = run.attempts.only("state", "outcome").first()
    return newest is not None and newest.is_over and newest.outcome != Outcome.FINISHED


def _points(run: Run, *, is_clean: bool) -> list[line.Point]:
    rows = Checkpoint.objects.usable().filter(run=run)
    if is_clean:
        rows = rows | Checkpoint.objects.waiting_for_proof().filter(run=run)
    return [
        line.Point(id=pk, attempt=number, step=step, is_stable=state == State.STABLE)
        for pk, number, step, state in rows.values_list("pk", "attempt__number", "step", "state")
    ]


def _starts(run: Run) -> dict[int, line.Start]:
    # Who took weights alone began at step 0, afresh: what the run saved since is its own.
    whole = StartedFrom.objects.filter(attempt__run=run, takes=StartedFrom.Takes.STATE)
    rows = whole.select_related("checkpoint__attempt", "attempt")
    return {
        row.attempt.number: line.Start(
            checkpoint_id=row.checkpoint_id,
            step=row.checkpoint.step,
            attempt=row.checkpoint.attempt.number if row.checkpoint.run_id == run.pk else None,
        )
        for row in rows.defer("checkpoint__manifest")
    }


def _usable(run: Run, checkpoint_id: int) -> Checkpoint:
    checkpoint = Checkpoint.objects.without_manifest().filter(pk=checkpoint_id).first()
    if checkpoint is None or checkpoint.state not in MAY_BEGIN:
        state = word_of(checkpoint.state) if checkpoint else _("unknown")
        raise NoRecoveryPoint(
            _("Run %(run)s would begin from checkpoint %(id)s, which is %(state)s.")
            % {"run": run.pk, "id": checkpoint_id, "state": state},
            hint=_("Verify it again, or fork from another checkpoint."),
        )
    return checkpoint


def _refuse_unproved(run: Run) -> None:
    newest = Checkpoint.objects.saved().filter(run=run).order_by("-step", "-pk").first()
    if newest is None:
        return
    waiting = newest.state == State.COMPLETE
    told = _(
        "Run %(run)s saved checkpoints, but none is proved whole; the newest, of step %(step)s, is %(state)s."
    )
    raise NoRecoveryPoint(
        told % {"run": run.pk, "step": newest.step, "state": word_of(newest.state)},
        hint=_("Its verification goes on; try again in a moment.") if waiting
        else _("Fork the run from a checkpoint of another run, or start a new run."),
    )  # fmt: skip
