"""The audit trail: append-only rows, each holding the digest of the one before it.

The database itself refuses UPDATE, DELETE and TRUNCATE (trigger in the first migration); the chain
shows an edit by someone who went round that, and the seal one by someone who computed the chain anew.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One act: who did what to which object, when. Its id is its place in the chain: 1, 2, 3 …, none left out."""

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
            models.Index(fields=["actor_name", "-id"], name="audit_of_actor"),
            models.Index(fields=["action", "-id"], name="audit_of_action"),
            models.Index(fields=["at"], name="audit_at"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_type} {self.object_id}"


class AuditSeal(models.Model):
    """The newest entry, signed with a key that is not in the database; one row, written with every entry."""

    entry_id = models.BigIntegerField()
    hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"sealed to {self.entry_id}"


class AuditCheck(models.Model):
    """One verification of the whole chain and what it found."""

    at = models.DateTimeField()
    num_entries = models.BigIntegerField()
    head = models.CharField(max_length=64)
    # [entry id, what is wrong], at most a hundred of them.
    faults = models.JSONField(default=list)
    num_faults = models.IntegerField(default=0)
    seconds = models.FloatField()

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"{self.num_entries} entries, {self.num_faults} faults"
