"""What one attempt saved at one step."""

from typing import ClassVar

from django.db import models

from runs.models import Attempt, Run


class Checkpoint(models.Model):
    """A checkpoint as registered by the attempt that wrote it; never told by a directory's name."""

    class State(models.TextChoices):
        WRITING = "writing"
        COMPLETE = "complete"
        VERIFIED = "verified"
        STABLE = "stable"
        DAMAGED = "damaged"
        FAILED = "failed"
        DELETING = "deleting"
        DELETED = "deleted"

    class Kind(models.TextChoices):
        ANCHOR = "anchor"
        SNAPSHOT = "snapshot"

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="checkpoints")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, related_name="checkpoints")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    step = models.BigIntegerField()
    tokens = models.BigIntegerField(null=True, blank=True)
    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=State, default=State.WRITING)
    state_at = models.DateTimeField()
    path = models.TextField()
    size_bytes = models.BigIntegerField(default=0)
    manifest = models.JSONField(default=dict)
    config_hash = models.CharField(max_length=80, blank=True)
    data_version = models.CharField(max_length=80, blank=True)
    tokenizer_digest = models.CharField(max_length=80, blank=True)
    is_pinned = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["attempt", "step", "kind", "path"], name="one_checkpoint_per_save"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "-step"], name="checkpoint_of_run"),
            models.Index(fields=["state", "id"], name="checkpoint_by_state"),
            models.Index(fields=["data_version"], name="checkpoint_by_data"),
        ]

    def __str__(self) -> str:
        return f"step {self.step} of run {self.run_id}"
