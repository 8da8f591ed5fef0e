"""The run config: a typed document named by its digest, never edited, only followed by another."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from controlplane.common.models import Project
from runs.models.card import NAME_CHARACTERS, Card


class Config(models.Model):
    """One canonical document of `safehold.config`; defaults were filled in once, when it was made."""

    class Kind(models.TextChoices):
        EXPERIMENT = "experiment", _("Experiment")
        PRODUCTION = "production", _("Production")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="configs")
    card = models.ForeignKey(
        Card, null=True, blank=True, on_delete=models.PROTECT, related_name="configs"
    )
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    name = models.CharField(max_length=NAME_CHARACTERS)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.EXPERIMENT)
    schema_version = models.PositiveIntegerField(default=1)
    document = models.JSONField()
    hash = models.CharField(max_length=80, db_index=True)
    family_hash = models.CharField(max_length=80, blank=True, db_index=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # From then on the database refuses any change of the row: see the migration that guards it.
    frozen_at = models.DateTimeField(null=True, blank=True)
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="config_of_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_production(self) -> bool:
        """Whether it must be frozen and approved; the document counts as well as the column."""
        kinds = (self.kind, self.document.get("kind"))
        return self.Kind.PRODUCTION in kinds

    @property
    def short_hash(self) -> str:
        """The part of the digest that people read."""
        return self.hash.removeprefix("blake3:")[:8]

    def same_as(self) -> int | None:
        """Return the number of the oldest other config of the project with the same document."""
        others = Config.objects.filter(project=self.project_id, hash=self.hash).exclude(pk=self.pk)
        return others.order_by("pk").values_list("pk", flat=True).first()


class ConfigText(models.Model):
    """The text that a config was written as, with its comments and order; there only where it says more than the document."""

    config = models.OneToOneField(Config, on_delete=models.CASCADE, related_name="written")
    text = models.TextField()

    def __str__(self) -> str:
        return f"text of config {self.config_id}"
