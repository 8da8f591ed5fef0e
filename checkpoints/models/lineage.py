"""Which attempt began from which checkpoint."""

from django.db import models

from checkpoints.models.checkpoint import Checkpoint
from runs.models import Attempt


class StartedFrom(models.Model):
    """The start of one attempt: the edge of the lineage graph from a checkpoint to an attempt."""

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="started_from")
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.PROTECT, related_name="started_attempts"
    )
    at = models.DateTimeField()
    # What was deliberately not restored or overridden, e.g. {"weights_only": true}.
    overrides = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"attempt {self.attempt_id} from checkpoint {self.checkpoint_id}"
