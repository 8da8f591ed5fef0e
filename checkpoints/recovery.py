"""What the runs ask of the registry: where a run goes on, one checkpoint's facts, keeping a start."""

import logging
from typing import Any

from django.utils.translation import gettext as _

from checkpoints import selectors
from checkpoints.models import Checkpoint
from checkpoints.services import lineage
from checkpoints.words import word_of
from controlplane.common.errors import Conflict, NotFound
from runs import starts
from runs.models import Attempt, Run

logger = logging.getLogger(__name__)


def newest(run: Run) -> dict[str, Any] | None:
    """Return the facts of the checkpoint from which the run goes on, or None."""
    checkpoint = selectors.newest_for_resume(run)
    return None if checkpoint is None else facts_of(checkpoint)


def find(checkpoint_id: int, project_id: int) -> dict[str, Any]:
    """Return the facts of a recovery point of the project.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is no recovery point.
    """
    rows = Checkpoint.objects.without_manifest().filter(run__project_id=project_id)
    checkpoint = rows.filter(pk=checkpoint_id).first()
    if checkpoint is None:
        told = _("There is no checkpoint %(id)s in this project.")
        raise NotFound(told % {"id": checkpoint_id})
    return facts_of(require_usable(checkpoint))


def record_start(attempt: Attempt) -> None:
    """Keep the checkpoint named by the attempt as its origin."""
    named = attempt.start_checkpoint["id"]
    checkpoint = Checkpoint.objects.without_manifest().filter(pk=named).first()
    if checkpoint is None:
        logger.warning("start.unknown", extra={"attempt_id": attempt.pk, "checkpoint_id": named})
        return
    takes = starts.takes(attempt.start_checkpoint)
    lineage.record_start(attempt=attempt, checkpoint=checkpoint, takes=takes)


def facts_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what a run keeps of the checkpoint that it begins from."""
    return {
        "id": checkpoint.pk,
        "path": checkpoint.path,
        "run": checkpoint.run_id,
        "step": checkpoint.step,
    }


def require_usable(checkpoint: Checkpoint) -> Checkpoint:
    """Pass a recovery point.

    Raises:
        Conflict: It is not proved whole.
    """
    if not checkpoint.is_usable:
        raise Conflict(
            _("Checkpoint %(id)s of step %(step)s is %(state)s: no run may begin from it.")
            % {"id": checkpoint.pk, "step": checkpoint.step, "state": word_of(checkpoint.state)},
            hint=_("Choose one that is verified or stable."),
        )
    return checkpoint
