"""The audit trail: append-only rows, each holding the digest of the one before it.

The database itself refuses UPDATE, DELETE and TRUNCATE (trigger in the first migration); the chain
shows an edit by someone who went round that.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One act: who did what to which object, when, by which way."""

    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    project_id = models.BigIntegerField(null=True, db_index=True)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [
            models.Index(fields=["object_type", "object_id", "-id"], name="audit_of_object"),
            models.Index(fields=["project_id", "-id"], name="audit_of_project"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_type} {self.object_id}"
