"""The bounds that a project set instead of those of the rulebook."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from controlplane.common.models import Project


class RulebookValue(models.Model):
    """One rule's span in one project; `rule` is its id in `safehold.rulebook`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rulebook_values")
    rule = models.CharField(max_length=80)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    reason = models.TextField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["rule"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "rule"], name="one_value_per_rule")
        ]

    def __str__(self) -> str:
        return f"{self.rule} of project {self.project_id}"
