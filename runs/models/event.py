"""What happened to a run: state changes, events, commands sent to the trainer, log text."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from runs.models.run import Attempt, Run


class StateChange(models.Model):
    """One move of an attempt."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="state_changes")
    old = models.CharField(max_length=12, blank=True)
    new = models.CharField(max_length=12)
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return f"{self.old} -> {self.new}"


class Event(models.Model):
    """One line of a run's timeline. `key` makes an event that may be reported twice appear once."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, db_index=False, related_name="events")
    attempt = models.ForeignKey(Attempt, null=True, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    message = models.TextField()
    data = models.JSONField(default=dict)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    key = models.CharField(max_length=120, null=True, unique=True)  # noqa: DJ001  (NULLs never collide)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [
            models.Index(fields=["run", "-id"], name="event_of_run"),
            models.Index(fields=["run", "kind", "-id"], name="event_of_kind"),
        ]

    def __str__(self) -> str:
        return self.message


class Command(models.Model):
    """A command to the trainer; it rides on acknowledgements until the trainer reports it."""

    class Kind(models.TextChoices):
        SAVE = "save"
        PAUSE = "pause"
        RESUME = "resume"
        SAVE_AND_STOP = "save_and_stop"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="commands")
    kind = models.CharField(max_length=16, choices=Kind)
    args = models.JSONField(default=dict)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True, blank=True)
    result = models.CharField(max_length=12, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]
        indexes: ClassVar = [
            models.Index(
                fields=["attempt", "id"],
                name="command_pending",
                condition=models.Q(done_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.attempt_id}"


class LogChunk(models.Model):
    """A piece of one source's output; `offset` is the byte at which it begins, so a retry adds nothing."""

    attempt = models.ForeignKey(
        Attempt, on_delete=models.CASCADE, db_index=False, related_name="log_chunks"
    )
    source = models.CharField(max_length=40)
    offset = models.BigIntegerField()
    size = models.IntegerField()
    data = models.BinaryField()
    received_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["offset"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["attempt", "source", "offset"], name="one_log_chunk_per_offset"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} at {self.offset}"
