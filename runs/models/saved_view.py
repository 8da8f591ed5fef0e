"""A list of runs that a person wants to come back to: its filters under a name."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from controlplane.common.models import Project


class SavedView(models.Model):
    """Filters and order of the list of runs, as its address has them; shared ones are seen by all members."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, db_index=False, related_name="saved_views"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000, blank=True)
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "user", "name"], name="one_view_per_name_and_person"
            )
        ]

    def __str__(self) -> str:
        return self.name
