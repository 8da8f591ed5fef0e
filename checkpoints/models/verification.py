"""The signed-off record of one verification."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from checkpoints.models.checkpoint import Checkpoint


class Verification(models.Model):
    """One check of one checkpoint: requested, claimed with a lease by a worker, recorded once."""

    class State(models.TextChoices):
        REQUESTED = "requested"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.CASCADE, related_name="verifications"
    )
    state = models.CharField(max_length=10, choices=State, default=State.REQUESTED)
    verdict = models.CharField(max_length=8, blank=True)
    findings = models.JSONField(default=list)
    facts = models.JSONField(default=dict)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    num_tries = models.PositiveSmallIntegerField(default=0)
    progress_bytes = models.BigIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["checkpoint"],
                condition=models.Q(state__in=["requested", "running"]),
                name="one_open_verification",
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["requested_at"],
                name="verification_open",
                condition=models.Q(state__in=["requested", "running"]),
            )
        ]

    def __str__(self) -> str:
        return f"verification of checkpoint {self.checkpoint_id}: {self.verdict or self.state}"

    @property
    def is_open(self) -> bool:
        """Whether a worker has it or will have it."""
        return self.state in {self.State.REQUESTED, self.State.RUNNING}
