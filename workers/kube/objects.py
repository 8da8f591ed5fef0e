"""The objects of an attempt, built from its config: pure functions, the same objects each time.

Every pod passes the *restricted* pod security standard
(https://kubernetes.io/docs/concepts/security/pod-security-standards/) unless the config asks for a host path.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.kubernetes import Kubernetes, Spread, Toleration, Volume
from workers.kube import names
from workers.kube.kinds import SECRET, SERVICE
from workers.launchers.base import LaunchSpec, program

Json = dict[str, Any]
CONTAINER = "trainer"
# Not /safehold: in a container that works in /, a folder of that name would hide an editable install of the library.
SCRATCH = "/var/safehold"
RENDEZVOUS_PORT = 29500
TERMINATION_LOG = "/dev/termination-log"
TOKEN_KEY = "token"
CONFIG_KEY = "config.json"
# Beyond the trainer's own grace: the wrapper ships logs and writes the exit record in it.
_WRAPPER_SECONDS = 15


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


def idle_pod(place: Place) -> Json:
    """Return the pod of a tombstone, which never runs."""
    container = {
        "name": CONTAINER,
        "image": place.image,
        "command": ["true"],
        "securityContext": _container_security(),
    }
    return {
        "restartPolicy": "Never",
        "securityContext": _pod_security(Kubernetes()),
        "containers": [container],
    }


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


def pod_template(spec: LaunchSpec, options: Kubernetes, place: Place, *, first_pod: str) -> Json:
    """Return the template of the pods, for any form of workload.

    Args:
        spec: What is launched.
        options: What the config asks of the cluster.
        place: Where the cluster takes it.
        first_pod: Host name of node rank 0, where the ranks meet.
    """
    mounts, volumes = _volumes(options)
    pod: Json = {
        "restartPolicy": "Never",
        "subdomain": spec.name,
        "terminationGracePeriodSeconds": spec.grace_seconds + _WRAPPER_SECONDS,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _pod_security(options),
        "containers": [_container(spec, options, place, first_pod, mounts)],
        "volumes": volumes,
    }
    pod |= _scheduling(spec, options)
    metadata: Json = {"labels": labels_of(spec, place)}
    if options.annotations:
        metadata["annotations"] = dict(options.annotations)
    return {"metadata": metadata, "spec": pod}


def command(spec: LaunchSpec, first_pod: str) -> list[str]:
    """Return the command of the container: the process wrapper as PID 1, then the user's program.

    The pods share it; each knows its node rank by JOB_COMPLETION_INDEX.
    """
    return [
        "python", "-m", "safehold.wrapper",
        "--dir", f"{SCRATCH}/$(SAFEHOLD_POD)",
        "--nproc", str(spec.devices // spec.nodes),
        "--nnodes", str(spec.nodes),
        "--rdzv-endpoint", f"{first_pod}:{RENDEZVOUS_PORT}",
        "--", *program(spec.command, "python"),
    ]  # fmt: skip


def _metadata(spec: LaunchSpec, place: Place) -> Json:
    return {"name": spec.name, "namespace": place.namespace, "labels": labels_of(spec, place)}


def _container(
    spec: LaunchSpec, options: Kubernetes, place: Place, first_pod: str, mounts: list[Json]
) -> Json:
    return {
        "name": CONTAINER,
        "image": options.image or place.image,
        "command": command(spec, first_pod),
        "env": _environment(spec, options),
        "resources": _resources(spec, options),
        "volumeMounts": mounts,
        "securityContext": _container_security(),
        "terminationMessagePath": TERMINATION_LOG,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _environment(spec: LaunchSpec, options: Kubernetes) -> list[Json]:
    """Ours come last, and last wins: a config cannot take an attempt's identity."""
    ours = {
        "SAFEHOLD_URL": spec.ingest_url,
        "SAFEHOLD_RUN_ID": str(spec.run_id),
        "SAFEHOLD_ATTEMPT": str(spec.attempt),
        "SAFEHOLD_CHECKPOINT_ROOT": str(spec.checkpoint_root),
        "SAFEHOLD_GRACE_SECONDS": str(spec.grace_seconds),
        "SAFEHOLD_DIR": f"{SCRATCH}/$(SAFEHOLD_POD)",
        "SAFEHOLD_TERMINATION_LOG": TERMINATION_LOG,
    }
    if spec.resume_from:
        ours["SAFEHOLD_RESUME_FROM"] = spec.resume_from
    if spec.is_fork:
        ours["SAFEHOLD_FORK"] = "1"
    theirs = {**options.env, **spec.env}
    return [
        _field("SAFEHOLD_POD", "metadata.name"),
        _field("SAFEHOLD_NODE", "spec.nodeName"),
        _field("SAFEHOLD_POD_IP", "status.podIP"),
        *({"name": key, "value": value} for key, value in sorted(theirs.items())),
        *(_from_secret(key, *ref.split("/", 1)) for key, ref in sorted(options.secret_env.items())),
        *({"name": key, "value": value} for key, value in ours.items()),
        _from_secret("SAFEHOLD_TOKEN", spec.name, TOKEN_KEY),
        _from_secret("SAFEHOLD_CONFIG_JSON", spec.name, CONFIG_KEY),
    ]


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _from_secret(name: str, secret_name: str, key: str) -> Json:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret_name, "key": key}}}


def _resources(spec: LaunchSpec, options: Kubernetes) -> Json:
    """Extended resources and memory are limits (requests follow); CPU is a request, so idle cores help."""
    limits = {options.device_resource: str(spec.devices // spec.nodes)}
    if options.memory:
        limits["memory"] = options.memory
    requests = {"cpu": options.cpu} if options.cpu else {}
    return {"limits": limits} | ({"requests": requests} if requests else {})


def _volumes(options: Kubernetes) -> tuple[list[Json], list[Json]]:
    shared: Json = {"medium": "Memory"}
    if options.shared_memory:
        shared["sizeLimit"] = options.shared_memory
    mounts: list[Json] = [
        {"name": "scratch", "mountPath": SCRATCH},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "shared-memory", "mountPath": "/dev/shm"},
    ]
    volumes: list[Json] = [
        {"name": "scratch", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shared-memory", "emptyDir": shared},
    ]
    for number, volume in enumerate(options.volumes):
        name = f"volume-{number}"
        mount = {"name": name, "mountPath": volume.mount_path, "readOnly": volume.read_only}
        mounts.append(mount | ({"subPath": volume.sub_path} if volume.sub_path else {}))
        volumes.append({"name": name} | _source(volume))
    return mounts, volumes


def _source(volume: Volume) -> Json:
    if volume.claim:
        return {"persistentVolumeClaim": {"claimName": volume.claim, "readOnly": volume.read_only}}
    if volume.host_path:
        return {"hostPath": {"path": volume.host_path, "type": "Directory"}}
    return {"emptyDir": {"sizeLimit": volume.size} if volume.size else {}}


def _scheduling(spec: LaunchSpec, options: Kubernetes) -> Json:
    found: Json = {
        "nodeSelector": dict(options.node_selector),
        "affinity": dict(options.affinity),
        "tolerations": [_toleration(entry) for entry in options.tolerations],
        "topologySpreadConstraints": [_spread(entry, spec) for entry in options.topology_spread],
        "priorityClassName": options.priority_class,
        "runtimeClassName": options.runtime_class,
        "serviceAccountName": options.service_account,
        "imagePullSecrets": [{"name": name} for name in options.pull_secrets],
    }
    return {key: value for key, value in found.items() if value}


def _toleration(entry: Toleration) -> Json:
    found: Json = {"key": entry.key, "operator": entry.operator, "effect": entry.effect}
    if entry.operator == "Equal":
        found["value"] = entry.value
    if entry.toleration_seconds >= 0:
        found["tolerationSeconds"] = entry.toleration_seconds
    return {key: value for key, value in found.items() if value != ""}


def _spread(entry: Spread, spec: LaunchSpec) -> Json:
    return {
        "topologyKey": entry.topology_key,
        "maxSkew": entry.max_skew,
        "whenUnsatisfiable": entry.when_unsatisfiable,
        "labelSelector": {"matchLabels": {names.WORKLOAD: spec.name}},
    }


def _pod_security(options: Kubernetes) -> Json:
    return {
        "runAsNonRoot": True,
        "runAsUser": options.user_id,
        "runAsGroup": options.user_id,
        "fsGroup": options.user_id,
        # Or every start would walk over all files of a shared volume.
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _container_security() -> Json:
    return {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
