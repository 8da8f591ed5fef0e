"""From which checkpoint another one descends."""

from checkpoints.models import Checkpoint, StartedFrom
from runs.models import Attempt


def parent_of_save(attempt: Attempt, step: int) -> Checkpoint | None:
    """Return the attempt's previous save, or for its first one the checkpoint that it began from."""
    saves = Checkpoint.objects.without_manifest().saved().filter(attempt=attempt, step__lt=step)
    return saves.order_by("-step", "-pk").first() or _began_from(attempt)


def _began_from(attempt: Attempt) -> Checkpoint | None:
    start = (
        StartedFrom.objects.filter(attempt=attempt)
        .select_related("checkpoint")
        .defer("checkpoint__manifest")
        .first()
    )
    return start.checkpoint if start else None
