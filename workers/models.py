"""What the hands must remember between two tries; records of runs are not here."""

from typing import ClassVar

from django.db import models

from runs.models import Run


class Watch(models.Model):
    """Reconciliation's own memory of one run: what failed, how often, and when to try again.

    `begun_at` is set while actions are carried out. Found set by the next one to hold the run's lock, it
    says that its predecessor died on the way: such a run must not kill one worker after the other.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="watch"
    )
    begun_at = models.DateTimeField(null=True, blank=True)
    num_deaths = models.PositiveIntegerField(default=0)
    num_failures = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    # Of launching; they belong to the attempt of this number.
    launch_attempt = models.PositiveIntegerField(default=0)
    num_launches = models.PositiveIntegerField(default=0)
    launch_error = models.TextField(blank=True)
    launch_retry_at = models.DateTimeField(null=True, blank=True)
    is_launch_final = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["pk"]
        verbose_name_plural = "watches"

    def __str__(self) -> str:
        return f"watch of run {self.run_id}"
