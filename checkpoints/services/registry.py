"""Taking note of what attempts save."""

from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from checkpoints import places, selectors
from checkpoints.models import Checkpoint
from checkpoints.services import moves, verification
from checkpoints.services.saves import Save, read_save
from checkpoints.states import UNDER_WRITER, State
from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Forbidden
from controlplane.common.models import User
from runs.models import Attempt
from runs.services import events


class AttemptIsOver(Forbidden):
    """Only a live attempt registers: a lost process that still writes must not become a recovery point."""

    code = "attempt-is-over"


@transaction.atomic
def register(
    *, attempt: Attempt, path: object, manifest: object, state: object, error: str | None = None
) -> Checkpoint:
    """Record one save, or its next state; the same call again changes nothing.

    Args:
        attempt: Who saved.
        path: The checkpoint's folder, below the attempt's own directory.
        manifest: The whole manifest of a complete save; `step` and `kind` of another.
        state: `writing`, `complete` or `failed`.
        error: Why it failed, as the writer saw it.

    Raises:
        AttemptIsOver: The attempt has ended or its token was revoked.
        Invalid: The path lies elsewhere, or the manifest cannot be used.
        Conflict: The path was registered complete with other content.
    """
    attempt = _live(attempt)
    save = read_save(manifest, state)
    place = places.inside_attempt(
        path, root=_root_of(attempt), run_id=attempt.run_id, number=attempt.number
    )
    text = (error or "").replace("\0", "\N{REPLACEMENT CHARACTER}")
    checkpoint, is_new = _find_or_create(attempt, place, save, text)
    if is_new or _advance(checkpoint, save, text):
        _record_effects(checkpoint)
    return checkpoint


def _root_of(attempt: Attempt) -> Path:
    """Return where the attempt was told to save: what its config says, as on a volume of a cluster, or our own."""
    told = attempt.run.config.document.get("checkpoint", {}).get("root")
    return Path(told or settings.SAFEHOLD_CHECKPOINT_ROOT)


@transaction.atomic
def fail_interrupted(*, checkpoint: Checkpoint) -> None:
    """Close a save whose attempt ended in the middle of it: what lies there is no checkpoint."""
    moves.move(
        checkpoint=checkpoint,
        to=State.FAILED,
        error="The attempt ended before the save was complete; what it left is no checkpoint.",
    )
    _record_effects(checkpoint)


@transaction.atomic
def pin(*, checkpoint: Checkpoint, user: User, is_pinned: bool) -> None:
    """Keep the checkpoint from every clean-up, or no longer."""
    act = "checkpoint.pin" if is_pinned else "checkpoint.unpin"
    access.require(user, checkpoint.run.project_id, act)
    changed = Checkpoint.objects.filter(pk=checkpoint.pk).exclude(is_pinned=is_pinned)
    if not changed.update(is_pinned=is_pinned):
        return
    checkpoint.is_pinned = is_pinned
    audit.record(
        actor=user,
        action=act,
        object=checkpoint,
        project_id=checkpoint.run.project_id,
        data={"run": checkpoint.run_id, "step": checkpoint.step},
    )
    moves.tell(checkpoint)


def _live(attempt: Attempt) -> Attempt:
    # The lock orders us with the end of the attempt: after it nothing more is taken.
    attempt = (
        Attempt.objects.select_for_update(of=("self",), no_key=True)
        .select_related("run")
        .get(pk=attempt.pk)
    )
    if attempt.is_over or attempt.token_revoked_at is not None:
        raise AttemptIsOver(
            f"Attempt {attempt.number} of run {attempt.run_id} is over; it can register nothing more.",
            hint="Only a live attempt registers checkpoints.",
        )
    return attempt


def _find_or_create(attempt: Attempt, path: str, save: Save, error: str) -> tuple[Checkpoint, bool]:
    now = timezone.now()
    return Checkpoint.objects.get_or_create(
        attempt=attempt,
        step=save.step,
        kind=save.kind,
        path=path,
        defaults={
            **save.columns(),
            "run": attempt.run,
            "parent": selectors.parent_of_save(attempt, save.step),
            "state": save.state,
            "state_at": now,
            "created_at": now,
            "saved_at": now if save.state is State.COMPLETE else None,
            "error": error if save.state is State.FAILED else "",
        },
    )


def _advance(checkpoint: Checkpoint, save: Save, error: str) -> bool:
    """Apply what was told to a known checkpoint; False where nothing changes."""
    if checkpoint.state not in UNDER_WRITER:
        _refuse_other_content(checkpoint, save)
        return False
    if checkpoint.state == save.state:
        return False
    is_complete = save.state is State.COMPLETE
    moves.move(
        checkpoint=checkpoint,
        to=save.state,
        error="" if is_complete else error,
        saved_at=timezone.now() if is_complete else None,
        parent=selectors.parent_of_save(checkpoint.attempt, save.step),
        **save.columns(),
    )
    return True


def _refuse_other_content(checkpoint: Checkpoint, save: Save) -> None:
    if save.state is State.COMPLETE and save.manifest != checkpoint.manifest:
        raise Conflict(
            f"Checkpoint {checkpoint.pk} at {checkpoint.path} is registered with another manifest; "
            "a published checkpoint is never changed.",
            hint="Save under another path.",
        )


def _record_effects(checkpoint: Checkpoint) -> None:
    moves.tell(checkpoint)
    if checkpoint.state == State.COMPLETE:
        _event(checkpoint, f"Checkpoint of step {checkpoint.step} was saved.")
        verification.request(checkpoint=checkpoint)
    elif checkpoint.state == State.FAILED:
        message = f"Saving step {checkpoint.step} to {checkpoint.path} failed: {checkpoint.error}"
        _event(checkpoint, message)


def _event(checkpoint: Checkpoint, message: str) -> None:
    events.record(
        run=checkpoint.run,
        attempt=checkpoint.attempt,
        kind="checkpoint",
        message=message,
        data=moves.facts(checkpoint),
    )
