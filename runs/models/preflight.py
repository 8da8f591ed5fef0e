"""The recorded verdict of preflight on one config."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from runs.models.config import Config


class PreflightReport(models.Model):
    """One run of the checks: findings as `safehold.findings` writes them."""

    class State(models.TextChoices):
        REQUESTED = "requested"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    config = models.ForeignKey(Config, on_delete=models.CASCADE, related_name="preflight_reports")
    config_hash = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=State, default=State.REQUESTED)
    verdict = models.CharField(max_length=8, blank=True)
    findings = models.JSONField(default=list)
    progress = models.JSONField(default=dict)
    only = models.JSONField(default=list)
    error = models.TextField(blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["config", "-id"], name="report_of_config")]

    def __str__(self) -> str:
        return f"preflight of config {self.config_id}: {self.verdict or self.state}"
