"""The run and its attempts."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from controlplane.common.models import Project
from runs import states
from runs.models.card import NAME_CHARACTERS, Card
from runs.models.config import Config


class Run(models.Model):
    """One planned training with one config; `desired` is what a person wants of it.

    The columns from `step` on repeat what its attempts last reported, for lists; ingest writes them.
    """

    class Desired(models.TextChoices):
        RUNNING = states.Desired.RUNNING
        PAUSED = states.Desired.PAUSED
        STOPPED = states.Desired.STOPPED

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="runs")
    card = models.ForeignKey(
        Card, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    config = models.ForeignKey(Config, on_delete=models.PROTECT, related_name="runs")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="forks"
    )
    # The checkpoint a fork begins from: an id of the registry, which this app does not import.
    forked_from_checkpoint = models.BigIntegerField(null=True, blank=True)
    # {"id", "path", "run", "step"} of that checkpoint, or with "takes": "weights" of the base that it begins with
    # since its launch; empty for a run that begins with nothing.
    start_checkpoint = models.JSONField(default=dict, blank=True)
    name = models.CharField(max_length=NAME_CHARACTERS)
    notes = models.TextField(blank=True)
    # A sweep or a series of runs that belong together; empty: none.
    group = models.CharField(max_length=120, blank=True)
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    # Archived: out of the usual lists, nothing else. Deleted: metrics, logs and samples are gone, the row stays
    # for lineage and audit; `delete_after` says when that is due.
    archived_at = models.DateTimeField(null=True, blank=True)
    delete_after = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    launcher = models.CharField(max_length=40, default="local")
    desired = models.CharField(max_length=10, choices=Desired, default=Desired.STOPPED)
    desired_at = models.DateTimeField(null=True, blank=True)
    # A forced stop skips save and grace.
    is_forced = models.BooleanField(default=False)
    # Stopped by `safehold up` going down: the next `up` resumes it.
    resume_on_up = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # Reconciliation looks only at these rows; true while an attempt is open or due.
    needs_reconcile = models.BooleanField(default=False)

    num_devices = models.PositiveIntegerField(default=1)
    total_steps = models.BigIntegerField(null=True, blank=True)
    step = models.BigIntegerField(null=True, blank=True)
    tokens = models.BigIntegerField(null=True, blank=True)
    last_loss = models.FloatField(null=True, blank=True)
    tokens_per_second = models.FloatField(null=True, blank=True)
    last_point_at = models.DateTimeField(null=True, blank=True)
    # The loss of the whole run in at most 64 values, for lists; see runs.sparkline.
    sparkline = models.JSONField(default=dict, blank=True)
    # What the registry last told: step of the newest verified or stable checkpoint, and its state.
    checkpoint_step = models.BigIntegerField(null=True, blank=True)
    checkpoint_state = models.CharField(max_length=12, blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        # None on what every batch of metrics changes (step, loss, speed): it would cost each batch an entry in
        # every index. Sorting a project of 10,000 runs by them takes PostgreSQL some 20 ms (bench/run_list.py).
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="run_of_project"),
            models.Index(
                fields=["project", "-id"],
                name="run_shown",
                condition=Q(archived_at__isnull=True, deleted_at__isnull=True),
            ),
            models.Index(fields=["project", "name", "id"], name="run_by_name"),
            models.Index(
                fields=["project", "group", "-id"], name="run_of_group", condition=~Q(group="")
            ),
            GinIndex(fields=["tags"], name="run_with_tag"),
            GinIndex(
                fields=["start_checkpoint"], name="run_by_start", opclasses=["jsonb_path_ops"]
            ),
            models.Index(
                fields=["delete_after"],
                name="run_to_delete",
                condition=Q(delete_after__isnull=False, deleted_at__isnull=True),
            ),
            models.Index(fields=["config", "-id"], name="run_of_config"),
            models.Index(fields=["id"], name="run_to_reconcile", condition=Q(needs_reconcile=True)),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_deleted(self) -> bool:
        """Whether nothing but the record is left of it."""
        return self.deleted_at is not None


class Attempt(models.Model):
    """One try at a run, from request to end; its workload's name is never used twice."""

    class State(models.TextChoices):
        REQUESTED = states.State.REQUESTED
        SUBMITTING = states.State.SUBMITTING
        WAITING = states.State.WAITING
        STARTING = states.State.STARTING
        RUNNING = states.State.RUNNING
        PAUSING = states.State.PAUSING
        PAUSED = states.State.PAUSED
        STOPPING = states.State.STOPPING
        ENDED = states.State.ENDED

    class Outcome(models.TextChoices):
        FINISHED = states.Outcome.FINISHED
        STOPPED = states.Outcome.STOPPED
        FAILED = states.Outcome.FAILED
        TAKEN_AWAY = states.Outcome.TAKEN_AWAY
        COULD_NOT_START = states.Outcome.COULD_NOT_START
        LOST = states.Outcome.LOST

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.REQUESTED)
    state_at = models.DateTimeField()
    outcome = models.CharField(max_length=16, choices=Outcome, blank=True)
    reason = models.TextField(blank=True)
    launcher = models.CharField(max_length=40)
    # What the launcher needs to find the workload again, and a text for people saying where it runs.
    handle = models.JSONField(default=dict)
    where = models.CharField(max_length=200, blank=True)
    token_hash = models.CharField(max_length=64, unique=True)
    # With the secret key it gives the token again, for a submit that is repeated after a crash.
    token_salt = models.CharField(max_length=32, blank=True)
    token_revoked_at = models.DateTimeField(null=True, blank=True)
    requested_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    first_step_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # The server's clock at the last heartbeat or batch.
    last_seen_at = models.DateTimeField(null=True, blank=True)
    contact_lost_since = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    stop_sent_at = models.DateTimeField(null=True, blank=True)
    phase = models.CharField(max_length=20, blank=True)
    clock_skew_seconds = models.FloatField(null=True, blank=True)
    start_step = models.BigIntegerField(default=0)
    # {"id", "path", "run", "step"} of the checkpoint it began from, and "takes": see runs.starts; empty for a fresh start.
    start_checkpoint = models.JSONField(default=dict)
    step = models.BigIntegerField(null=True, blank=True)
    exit = models.JSONField(default=dict)
    # Code commit, library versions, host and devices, as the trainer reported them at its start.
    environment = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["-number"]
        indexes: ClassVar = [models.Index(fields=["launcher", "-id"], name="attempt_of_launcher")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_number"),
            models.UniqueConstraint(
                fields=["run"], condition=~Q(state="ended"), name="one_open_attempt_per_run"
            ),
            models.CheckConstraint(
                condition=Q(state="ended", ended_at__isnull=False) & ~Q(outcome="")
                | ~Q(state="ended") & Q(outcome=""),
                name="ended_has_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.number}"

    @property
    def name(self) -> str:
        """The name of its workload: valid in every launcher, never used twice."""
        return f"safehold-r{self.run_id}-a{self.number}"

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state == self.State.ENDED

    def facts(self) -> states.AttemptFacts:
        """Return what the shown state depends on."""
        return states.AttemptFacts(
            number=self.number,
            state=states.State(self.state),
            outcome=states.Outcome(self.outcome) if self.outcome else None,
            reason=self.reason,
            requested_at=self.requested_at,
            state_since=self.state_at,
            ended_at=self.ended_at,
            last_seen_at=self.last_seen_at,
            contact_lost_since=self.contact_lost_since,
        )
