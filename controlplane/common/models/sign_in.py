"""Where a person is signed in: one row for each session of a browser, so that it can be listed and ended."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class SignIn(models.Model):
    """One browser in which a person is signed in."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins"
    )
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=300, blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-seen_at"]

    def __str__(self) -> str:
        return f"{self.user} since {self.began_at}"
