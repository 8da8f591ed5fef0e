"""Recording from which checkpoint an attempt began."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.states import MAY_BEGIN
from checkpoints.words import word_of
from controlplane.common.errors import Conflict
from runs.models import Attempt


@transaction.atomic
def record_start(
    *,
    attempt: Attempt,
    checkpoint: Checkpoint,
    takes: str = StartedFrom.Takes.STATE,
    overrides: Mapping[str, Any] | None = None,
) -> StartedFrom:
    """Record the start of an attempt, in the transaction that creates it.

    Args:
        attempt: The new attempt.
        checkpoint: One that is not damaged, of its run or of another one.
        takes: `state`, or `weights`: the rest begins anew.
        overrides: What is deliberately not restored, or restored otherwise.

    Raises:
        Conflict: No run may begin from the checkpoint (any more), or the attempt began elsewhere.
    """
    rows = Checkpoint.objects.without_manifest().select_for_update(no_key=True)
    held = rows.get(pk=checkpoint.pk)
    if held.state not in MAY_BEGIN:
        raise Conflict(
            _("Checkpoint %(id)s of step %(step)s is %(state)s: no run may begin from it.")
            % {"id": held.pk, "step": held.step, "state": word_of(held.state)},
            hint=_("Choose one that is verified or stable."),
        )
    start, is_new = StartedFrom.objects.get_or_create(
        attempt=attempt,
        defaults={
            "checkpoint": held, "at": timezone.now(), "takes": takes, "overrides": dict(overrides or {}),
        },
    )  # fmt: skip
    if not is_new and start.checkpoint_id != held.pk:
        told = _("Attempt %(attempt)s began from checkpoint %(id)s already.")
        raise Conflict(told % {"attempt": attempt, "id": start.checkpoint_id})
    return start
