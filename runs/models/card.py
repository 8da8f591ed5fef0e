"""The experiment card: question, expectation, deciding metric, budget, owner."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from controlplane.common.models import Project

NAME_CHARACTERS = 200  # of cards, configs and runs alike, as in the document of a config


class Card(models.Model):
    """What a team wrote down before training; `data` holds the typed fields of `safehold.planning`."""

    class Pilot(models.TextChoices):
        """What a card made from another one is for."""

        NONE = "", _("No pilot")
        SHRUNK = "pilot", _("Pilot")
        MIX = "mix_pilot", _("Mix pilot")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="cards")
    # The card that a pilot was made from.
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="pilots"
    )
    pilot = models.CharField(max_length=10, choices=Pilot, default="", db_default="", blank=True)
    name = models.CharField(max_length=NAME_CHARACTERS)
    question = models.TextField(blank=True)
    stage = models.CharField(max_length=20, default="pretrain")
    data = models.JSONField(default=dict)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="cards"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="card_of_project"),
            models.Index(fields=["project", "stage", "-id"], name="card_of_stage"),
        ]

    def __str__(self) -> str:
        return self.name


class CardChange(models.Model):
    """One changed field: who, when, old and new, and why."""

    card = models.ForeignKey(Card, on_delete=models.CASCADE, related_name="changes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    field = models.CharField(max_length=80)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return f"{self.field} of card {self.card_id}"
