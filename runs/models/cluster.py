"""A Kubernetes cluster in which attempts may run, and what was last seen of it."""

import secrets
from typing import ClassVar

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models


def _new_owner() -> str:
    return secrets.token_hex(6)


class Cluster(models.Model):
    """One cluster and one namespace of it; its credentials are encrypted.

    `owner` stands in the labels of all that we make there: two control planes in one namespace never
    touch each other's objects.
    """

    class Way(models.TextChoices):
        IN_CLUSTER = "in_cluster"
        KUBECONFIG = "kubeconfig"
        TOKEN = "token"

    class State(models.TextChoices):
        UNKNOWN = "unknown"
        REACHABLE = "reachable"
        UNREACHABLE = "unreachable"

    name = models.CharField(
        max_length=28, unique=True, validators=[RegexValidator(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    )
    namespace = models.CharField(max_length=63)
    owner = models.CharField(max_length=12, unique=True, default=_new_owner)
    way = models.CharField(max_length=12, choices=Way)
    # JSON of the kubeconfig or of url, token and certificate, encrypted as one text; empty in the cluster.
    credentials = models.TextField(blank=True)
    image = models.CharField(max_length=500)
    # The control plane's address as its pods see it; empty: the setting SAFEHOLD_INGEST_URL.
    ingest_url = models.CharField(max_length=300, blank=True)
    is_enabled = models.BooleanField(default=True)
    state = models.CharField(max_length=12, choices=State, default=State.UNKNOWN)
    state_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True)
    version = models.CharField(max_length=60, blank=True)
    # Nodes, capacity by device type and queues, as last seen.
    survey = models.JSONField(default=dict, blank=True)
    surveyed_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def launcher(self) -> str:
        """The name by which runs choose this cluster."""
        return f"kubernetes:{self.name}"
