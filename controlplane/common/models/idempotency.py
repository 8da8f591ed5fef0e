"""Answers to creates, kept so that a repeated request gets the first answer instead of a second object."""

from typing import ClassVar

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models


class IdempotentAnswer(models.Model):
    """What one request with an Idempotency-Key was answered; written in the transaction of its object."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    # SHA-256 of method, path and body: the same key for another request is a mistake of the client.
    request_hash = models.CharField(max_length=64)
    body = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key")
        ]

    def __str__(self) -> str:
        return self.key
