"""Which attempt began from which checkpoint."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from checkpoints.models.checkpoint import Checkpoint
from runs.models import Attempt


class StartedFrom(models.Model):
    """The start of one attempt: the edge of the lineage graph from a checkpoint to an attempt."""

    class Takes(models.TextChoices):
        """What the attempt took over."""

        STATE = "state", _("whole state")
        WEIGHTS = "weights", _("weights alone")

    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="started_from")
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.PROTECT, related_name="started_attempts"
    )
    at = models.DateTimeField()
    takes = models.CharField(
        max_length=10, choices=Takes, default=Takes.STATE, db_default=Takes.STATE
    )
    # What was deliberately overridden.
    overrides = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"attempt {self.attempt_id} from checkpoint {self.checkpoint_id}"
