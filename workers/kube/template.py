"""The pods of an attempt, whatever the form of its workload.

Every pod passes the *restricted* pod security standard
(https://kubernetes.io/docs/concepts/security/pod-security-standards/) unless the config asks for a host path.
"""

from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube import environment, scheduling, volumes
from workers.kube.environment import SCRATCH, TERMINATION_LOG
from workers.kube.objects import RENDEZVOUS_PORT, Place, labels_of
from workers.launchers.base import LaunchSpec, program

Json = dict[str, Any]
CONTAINER = "trainer"
# Beyond the trainer's own grace: the wrapper ships logs and writes the exit record in it.
_WRAPPER_SECONDS = 15


def pod_template(spec: LaunchSpec, options: Kubernetes, place: Place, *, first_pod: str) -> Json:
    """Return the template of the pods, for any form of workload.

    Args:
        spec: What is launched.
        options: What the config asks of the cluster.
        place: Where the cluster takes it.
        first_pod: Host name of node rank 0, where the ranks meet.
    """
    mounts, held = volumes.build(options)
    pod: Json = {
        "restartPolicy": "Never",
        "subdomain": spec.name,
        "terminationGracePeriodSeconds": spec.grace_seconds + _WRAPPER_SECONDS,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": _pod_security(options),
        "containers": [_container(spec, options, place, first_pod, mounts)],
        "volumes": held,
    }
    pod |= scheduling.build(spec, options)
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


def _container(
    spec: LaunchSpec, options: Kubernetes, place: Place, first_pod: str, mounts: list[Json]
) -> Json:
    return {
        "name": CONTAINER,
        "image": options.image or place.image,
        "command": command(spec, first_pod),
        "env": environment.build(spec, options),
        "resources": _resources(spec, options),
        "volumeMounts": mounts,
        "securityContext": _container_security(),
        "terminationMessagePath": TERMINATION_LOG,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _resources(spec: LaunchSpec, options: Kubernetes) -> Json:
    """Extended resources and memory are limits (requests follow); CPU is a request, so idle cores help."""
    limits = {options.device_resource: str(spec.devices // spec.nodes)}
    if options.memory:
        limits["memory"] = options.memory
    requests = {"cpu": options.cpu} if options.cpu else {}
    return {"limits": limits} | ({"requests": requests} if requests else {})


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
