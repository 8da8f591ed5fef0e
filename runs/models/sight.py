"""What a launcher last saw of an attempt beyond its state: pods, and differences from what was asked for.

Kept apart from the attempt, which is read with every batch of metrics.
"""

from typing import ClassVar

from django.db import models

from runs.models.run import Attempt


class Sight(models.Model):
    """The last look at the workload of one attempt, kept after the workload is gone."""

    attempt = models.OneToOneField(
        Attempt, on_delete=models.CASCADE, primary_key=True, related_name="sight"
    )
    # See `runs.pod_table`.
    pods = models.JSONField(default=dict)
    seen_at = models.DateTimeField(null=True, blank=True)
    # Digests of the images that the pods really ran.
    image_ids = models.JSONField(default=list)
    # Findings as `safehold.findings` writes them; empty: nothing differs.
    drift = models.JSONField(default=list)
    drift_checked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return f"sight of attempt {self.attempt_id}"
