"""Personal tokens for the API and the command line; only a hash is kept."""

from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.common.models.people import Project


class Scope(models.TextChoices):
    """What a token may be used for; its person must have the right as well."""

    READ = "read", _("read")
    PLAN = "plan", _("write cards and configs")
    RUN = "run", _("launch and stop runs, keep checkpoints")
    APPROVE = "approve", _("approve production configs")
    ADMIN = "admin", _("manage projects, members and clusters")
    ACCOUNT = "account", _("manage your own tokens")


def every_scope() -> list[str]:
    """Return all scopes, in their order."""
    return list(Scope.values)


class PersonalToken(models.Model):
    """Lets a program act as a person, within its scopes and, where one is set, its project."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="personal_tokens"
    )
    name = models.CharField(max_length=80)
    hash = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope))
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        """Whether the token may still be used now."""
        return self.revoked_at is None and not self.is_expired

    @property
    def is_expired(self) -> bool:
        """Whether its time has passed."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def scope_labels(self) -> list[str]:
        """Return what it may be used for, in words."""
        return [str(Scope(value).label) for value in self.scopes]
