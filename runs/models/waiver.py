"""A person's word that a run starts in spite of its preflight."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from runs.models.preflight import PreflightReport
from runs.models.run import Run


class Waiver(models.Model):
    """Who let one run of an experiment start with what failed, and why; never for production."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="waiver")
    report = models.ForeignKey(PreflightReport, on_delete=models.PROTECT, related_name="+")
    config_hash = models.CharField(max_length=80)
    waived_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(reason=""), name="waiver_has_a_reason",
                violation_error_message="A waiver needs a reason.",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"waiver for run {self.run_id}"
