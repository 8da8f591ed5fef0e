"""The approval of a frozen config: asked for by one person, given by another one, kept for good."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from runs.models.config import Config


class Approval(models.Model):
    """One request and its answer. The database refuses an approver who asked, and any later edit."""

    class State(models.TextChoices):
        REQUESTED = "requested", _("requested")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    config = models.ForeignKey(Config, on_delete=models.PROTECT, related_name="approvals")
    # Of the document that was shown to the approver.
    hash = models.CharField(max_length=80)
    # The checkpoint whose weights a run begins with, as its card named it then; an id of the registry, null: none.
    base_checkpoint = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.REQUESTED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["config"],
                condition=Q(state__in=["requested", "approved"]),
                name="one_standing_approval_per_config",
            ),
            models.CheckConstraint(
                condition=~Q(state="approved")
                | (Q(decided_by__isnull=False) & ~Q(decided_by=F("requested_by"))),
                name="approved_by_another_person",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "-id"], name="approval_by_state"),
        ]

    def __str__(self) -> str:
        return f"approval of config {self.config_id}: {self.state}"
