"""What lies beside the pods of an attempt, built from its config: pure functions, the same objects each time."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube import names
from workers.kube.kinds import SECRET, SERVICE
from workers.launchers.base import LaunchSpec

Json = dict[str, Any]
RENDEZVOUS_PORT = 29500
TOKEN_KEY = "token"
CONFIG_KEY = "config.json"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a cluster takes our objects.

    Attributes:
        namespace: Of all objects.
        owner: Digest that tells this control plane from another one in the namespace.
        image: The trainer image used where a config names none.
    """

    namespace: str
    owner: str
    image: str


def labels_of(spec: LaunchSpec, place: Place) -> dict[str, str]:
    """Return the labels of all objects of an attempt."""
    return names.labels(owner=place.owner, run_id=spec.run_id, attempt=spec.attempt, name=spec.name)


def secret(spec: LaunchSpec, place: Place) -> Json:
    """Return the Secret with the attempt's token and its config: immutable, so neither can drift."""
    data = {TOKEN_KEY: spec.token, CONFIG_KEY: json.dumps(spec.config, sort_keys=True)}
    return {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.name,
        "metadata": _metadata(spec, place),
        "immutable": True,
        "type": "Opaque",
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()},
    }


def service(spec: LaunchSpec, place: Place) -> Json:
    """Return the headless Service that gives each pod a name, before it is ready too."""
    return {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.name,
        "metadata": _metadata(spec, place),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {names.WORKLOAD: spec.name, names.OWNER: place.owner},
            "ports": [{"name": "rendezvous", "port": RENDEZVOUS_PORT}],
        },
    }


def queued_metadata(spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
    """Return the metadata of a workload: how patient we are, and the label by which Kueue takes it into a queue."""
    metadata = _metadata(spec, place)
    metadata["annotations"] = {names.PENDING_SECONDS: str(options.pending_seconds)}
    if options.queue:
        metadata["labels"][names.QUEUE] = options.queue
    return metadata


def tombstone_metadata(name: str, place: Place) -> Json:
    """Return the metadata of an object that only occupies a name, so that a delayed create comes too late."""
    held = names.labels(owner=place.owner, run_id=0, attempt=0, name=name)
    return {"name": name, "labels": held | {names.FENCE: names.TOMBSTONE}}


def job_like(item: Mapping[str, Any], *, ends: Mapping[str, str], completions: int) -> Json:
    """Return an Indexed Job that says the same as another kind of workload.

    Args:
        item: The workload.
        ends: Its terminal conditions and the Job's words for them.
        completions: The number of its pods.
    """
    conditions = [
        found | {"type": ends[found["type"]]}
        for found in (item.get("status") or {}).get("conditions") or []
        if found.get("type") in ends
    ]
    is_suspended = bool((item.get("spec") or {}).get("suspend"))
    return {
        "metadata": item["metadata"],
        "spec": {"completions": completions, "suspend": is_suspended},
        "status": {"conditions": conditions},
    }


def _metadata(spec: LaunchSpec, place: Place) -> Json:
    return {"name": spec.name, "namespace": place.namespace, "labels": labels_of(spec, place)}
