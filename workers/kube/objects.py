"""The objects of an attempt, built from its config: pure functions, the same objects each time.

Every pod passes the *restricted* pod security standard
(https://kubernetes.io/docs/concepts/security/pod-security-standards/) unless the config asks for a host path.
"""

import base64
import json
from dataclasses import dataclass
from typing import Any

from safehold.config.kubernetes import Kubernetes, Spread, Toleration, Volume
from workers.kube import names
from workers.kube.kinds import JOB, SECRET, SERVICE
from workers.launchers.base import LaunchSpec

Json = dict[str, Any]
CONTAINER = "trainer"
SCRATCH = "/safehold"
RENDEZVOUS_PORT = 29500
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


def job(spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
    """Return the Indexed Job: one pod a node, no retries of its own, suspended where a queue admits it."""
    metadata = _metadata(spec, place)
    if options.queue:
        metadata["labels"]["kueue.x-k8s.io/queue-name"] = options.queue
    body: Json = {
        "completionMode": "Indexed",
        "completions": spec.nodes,
        "parallelism": spec.nodes,
        "backoffLimit": 0,
        "suspend": bool(options.queue),
        "template": pod_template(spec, options, place),
    }
    if options.deadline_seconds:
        body["activeDeadlineSeconds"] = options.deadline_seconds
    return {"apiVersion": JOB.api_version, "kind": JOB.name, "metadata": metadata, "spec": body}


def tombstone(name: str, place: Place, *, run_id: int, attempt: int) -> Json:
    """Return a Job that never runs: it occupies a name, so that a delayed create of it comes too late."""
    held = names.labels(owner=place.owner, run_id=run_id, attempt=attempt, name=name)
    container = {
        "name": CONTAINER,
        "image": place.image,
        "command": ["true"],
        "securityContext": _container_security(),
    }
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "metadata": {"name": name, "labels": held | {names.FENCE: "true"}},
        "spec": {
            "suspend": True,
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "securityContext": _pod_security(Kubernetes()),
                    "containers": [container],
                }
            },
        },
    }


def pod_template(spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
    """Return the template of the pods, for any kind of workload."""
    mounts, volumes = _volumes(options)
    pod: Json = {
        "restartPolicy": "Never",
        "subdomain": spec.name,
        "terminationGracePeriodSeconds": spec.grace_seconds + _WRAPPER_SECONDS,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _pod_security(options),
        "containers": [_container(spec, options, place, mounts)],
        "volumes": volumes,
    }
    pod |= _scheduling(spec, options)
    metadata: Json = {"labels": labels_of(spec, place)}
    if options.annotations:
        metadata["annotations"] = dict(options.annotations)
    return {"metadata": metadata, "spec": pod}


def command(spec: LaunchSpec) -> list[str]:
    """Return the command of the container: the process wrapper as PID 1, then the user's program."""
    return [
        "python", "-m", "safehold.wrapper",
        "--dir", f"{SCRATCH}/$(SAFEHOLD_POD)",
        "--nproc", str(spec.devices // spec.nodes),
        "--nnodes", str(spec.nodes),
        "--rendezvous", f"{spec.name}-0.{spec.name}:{RENDEZVOUS_PORT}",
        "--", *spec.command,
    ]  # fmt: skip


def _metadata(spec: LaunchSpec, place: Place) -> Json:
    return {"name": spec.name, "namespace": place.namespace, "labels": labels_of(spec, place)}


def _container(spec: LaunchSpec, options: Kubernetes, place: Place, mounts: list[Json]) -> Json:
    return {
        "name": CONTAINER,
        "image": options.image or place.image,
        "command": command(spec),
        "env": _environment(spec, options),
        "resources": _resources(spec, options),
        "volumeMounts": mounts,
        "securityContext": _container_security(),
        "terminationMessagePath": "/dev/termination-log",
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
