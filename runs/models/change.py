"""What a run changes against the config that it follows."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from runs.models.config import Config
from runs.models.run import Run


class RunChange(models.Model):
    """The verdict of `safehold.config.compare` when the run was made, and why more than one variable may change."""

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="change"
    )
    # The config of the run that it was forked from, or the one that its own config follows.
    parent_config = models.ForeignKey(Config, on_delete=models.PROTECT, related_name="+")
    # The base checkpoints that the two begin with, null: none; counted among the factors where they differ.
    parent_base = models.BigIntegerField(null=True, blank=True)
    base = models.BigIntegerField(null=True, blank=True)
    num_factors = models.PositiveIntegerField()
    # [{"name", "title", "paths", "following"}] as `safehold.config.Factor`.
    factors = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    reason_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    reason_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return f"{self.num_factors} variables of run {self.run_id}"

    @property
    def more_than_one(self) -> bool:
        """Whether a result cannot be laid to a single variable."""
        return self.num_factors > 1
