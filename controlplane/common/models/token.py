"""Personal tokens for the API and the command line; only a hash is kept."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from controlplane.common.models.people import Role


class PersonalToken(models.Model):
    """Lets a program act as a person, with at most the role `max_role`."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="personal_tokens"
    )
    name = models.CharField(max_length=80)
    hash = models.CharField(max_length=64, unique=True)
    max_role = models.PositiveSmallIntegerField(choices=Role, default=Role.ADMIN)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        """Whether the token may still be used now."""
        return self.revoked_at is None and (
            self.expires_at is None or self.expires_at > timezone.now()
        )
