"""What one attempt saved at one step."""

from collections.abc import Iterable
from typing import ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from checkpoints import states
from runs.models import Attempt, Run


class CheckpointQuerySet(models.QuerySet["Checkpoint"]):
    """Questions about many checkpoints."""

    def usable(self) -> Self:
        """Recovery points: proved whole."""
        return self.filter(state__in=states.USABLE)

    def waiting_for_proof(self) -> Self:
        """Saved, and no verification of them was given up."""
        return self.filter(state=states.State.COMPLETE).exclude(verifications__state="failed")

    def saved(self) -> Self:
        """Those whose bytes are all on stable storage, whole or not."""
        return self.filter(state__in=states.SAVED)

    def without_manifest(self) -> Self:
        """For lists: a manifest can take megabytes."""
        return self.defer("manifest")


class Checkpoint(models.Model):
    """A checkpoint as registered by the attempt that wrote it; never told by a directory's name."""

    class State(models.TextChoices):
        WRITING = states.State.WRITING, _("Writing")
        COMPLETE = states.State.COMPLETE, _("Complete")
        VERIFIED = states.State.VERIFIED, _("Verified")
        STABLE = states.State.STABLE, _("Stable")
        DAMAGED = states.State.DAMAGED, _("Damaged")
        FAILED = states.State.FAILED, _("Failed")
        DELETING = states.State.DELETING, _("Deleting")
        DELETED = states.State.DELETED, _("Deleted")

    class Kind(models.TextChoices):
        ANCHOR = "anchor", _("Anchor")
        SNAPSHOT = "snapshot", _("Snapshot")

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
    # When the writer told that every byte is on stable storage, and when a verification last passed.
    saved_at = models.DateTimeField(null=True, blank=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    # What the loss that followed said, in a sentence, and when that was looked at.
    judged_at = models.DateTimeField(null=True, blank=True)
    judgement = models.TextField(blank=True)

    objects = CheckpointQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["attempt", "step", "kind", "path"], name="one_checkpoint_per_save"
            ),
            models.CheckConstraint(condition=models.Q(step__gte=0), name="step_not_negative"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "-step"], name="checkpoint_of_run"),
            models.Index(fields=["state", "id"], name="checkpoint_by_state"),
            models.Index(fields=["data_version"], name="checkpoint_by_data"),
        ]

    def __str__(self) -> str:
        return f"step {self.step} of run {self.run_id}"

    @property
    def is_usable(self) -> bool:
        """Whether a run may begin from it."""
        return self.state in states.USABLE

    @property
    def is_saved(self) -> bool:
        """Whether there are bytes to verify."""
        return self.state in states.SAVED

    def may_move(self, to: states.State) -> bool:
        """Whether the table of states allows the move."""
        return states.may_move(states.State(self.state), to)


def newest_first(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return them by recorded step, never by name or file time; the later record wins a tie."""
    return sorted(checkpoints, key=lambda item: (item.step, item.pk), reverse=True)
