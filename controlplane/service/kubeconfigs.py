"""The cluster that KUBECONFIG names: registered by `up`, so that runs can be launched there at once."""

import hashlib
import json
import os
from collections.abc import Callable
from typing import Any

from controlplane import environment as env
from controlplane.common.errors import SafeholdError
from safehold.kubeconfig import KubeconfigError, cluster_name, flattened


def register(*, say: Callable[[str], None]) -> None:
    """Register the cluster of KUBECONFIG, or renew its credentials; a trouble is told and the service goes on.

    What an administrator changed on the page (image, namespace, address) stays as it is.

    Args:
        say: Tells the person at the terminal.
    """
    named = os.environ.get("KUBECONFIG", "")
    if not named:
        return
    try:
        document = flattened(named)
        name = _register(document)
    except (KubeconfigError, SafeholdError) as error:
        say(f"  KUBECONFIG is not used: {_told(error)}")
        return
    say(f"  cluster {name} is registered from KUBECONFIG")


def digest() -> str:
    """Return what tells the credentials of KUBECONFIG from others; empty where there are none that can be read."""
    named = os.environ.get("KUBECONFIG", "")
    if not named:
        return ""
    try:
        document = flattened(named)
    except KubeconfigError:
        return ""
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def has_clusters() -> bool:
    """Whether there is anything to watch."""
    from runs.models import Cluster

    return Cluster.objects.filter(is_enabled=True).exists()


def _register(document: dict[str, Any]) -> str:
    from controlplane.service import accounts
    from runs.models import Cluster
    from runs.services import clusters

    name = cluster_name(document["current-context"])
    known = Cluster.objects.filter(name=name).first()
    clusters.register_cluster(
        user=accounts.admin(),
        name=name,
        way=Cluster.Way.KUBECONFIG,
        kubeconfig=json.dumps(document),
        namespace=known.namespace if known else "",
        image=known.image if known else default_image(),
        ingest_url=known.ingest_url if known else "",
    )
    return name


def default_image() -> str:
    """Return the trainer image of a cluster that is registered without anybody naming one."""
    from importlib.metadata import version

    return env.text("SAFEHOLD_TRAINER_IMAGE") or f"safehold-trainer:{version('safehold')}"


def _told(error: KubeconfigError | SafeholdError) -> str:
    if not isinstance(error, SafeholdError):
        return str(error)
    fields = " ".join(text for texts in error.fields.values() for text in texts)
    return f"{error.message} {fields}".strip()
