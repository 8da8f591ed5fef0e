"""Looking at a launch before it happens: the objects that it would make, and what a cluster says of them."""

import re
from typing import Any

from controlplane.common.errors import SafeholdError
from runs.models import Config
from safehold.findings import Finding, fail, passed, unknown
from workers import launchers
from workers.kube.errors import KubeError
from workers.launchers.base import LauncherError
from workers.launchers.kubernetes import KubernetesLauncher
from workers.specs import preview_spec

CODE = "LAUNCH-1.dry_run"
# Fields of objects by what decides them in a config; the first that fits counts.
_FIELDS = (
    (re.compile(r"resources\.(limits|requests)\[?\.?(memory)"), "kubernetes.memory"),
    (re.compile(r"resources\.(limits|requests)\[?\.?(cpu)"), "kubernetes.cpu"),
    (re.compile(r"resources\."), "kubernetes.device_resource"),
    (re.compile(r"\.image$"), "kubernetes.image"),
    (re.compile(r"volumeMounts|volumes"), "kubernetes.volumes"),
    (re.compile(r"\.env\["), "kubernetes.env"),
    (re.compile(r"affinity"), "kubernetes.affinity"),
    (re.compile(r"tolerations"), "kubernetes.tolerations"),
    (re.compile(r"topologySpreadConstraints"), "kubernetes.topology_spread"),
    (re.compile(r"nodeSelector"), "kubernetes.node_selector"),
    (re.compile(r"priorityClass|no PriorityClass"), "kubernetes.priority_class"),
    (re.compile(r"runtimeClass|RuntimeClass"), "kubernetes.runtime_class"),
    (re.compile(r"annotations"), "kubernetes.annotations"),
    (re.compile(r"serviceAccount|service account"), "kubernetes.service_account"),
    (re.compile(r"imagePullSecrets"), "kubernetes.pull_secrets"),
    (re.compile(r"runtimeRef"), "kubernetes.runtime"),
)  # fmt: skip


def manifests(config: Config, launcher: str) -> list[dict[str, Any]]:
    """Return the objects that a launch would make, secrets masked; no cluster is asked."""
    found = launchers.get(launcher)
    assert isinstance(found, KubernetesLauncher)
    return found.manifests(preview_spec(config, launcher))


def dry_run(config: Config, launcher: str) -> list[Finding]:
    """Have the cluster check the workload of a config without storing it.

    Returns:
        One finding for each field that it refuses; `unknown` where it cannot be asked.
    """
    cluster = launcher.partition(":")[2]
    try:
        found = launchers.get(launcher)
        assert isinstance(found, KubernetesLauncher)
        found.dry_run(preview_spec(config, launcher))
    except KubeError as error:
        return _refusals(error, cluster)
    except LauncherError as error:
        return [_blocking(error.message, error.hint, cluster)]
    except SafeholdError as error:
        return [unknown(error.message, code=CODE, advice=error.hint, evidence={"cluster": cluster})]
    message = f"Cluster {cluster} would take the workload."
    return [passed(message, code=CODE, evidence={"cluster": cluster})]


def _refusals(error: KubeError, cluster: str) -> list[Finding]:
    if error.is_unreachable and error.status != 403:
        told = f"Cluster {cluster} could not be asked: {error.message}"
        return [unknown(told, code=CODE, advice=error.hint, evidence={"cluster": cluster})]
    if not error.causes:
        return [_blocking(error.message, error.hint, cluster)]
    return [
        _blocking(f"Cluster {cluster} refuses {field}: {text}", error.hint, cluster, field)
        for field, text in error.causes
    ]


def _blocking(message: str, hint: str, cluster: str, field: str = "") -> Finding:
    evidence = {"cluster": cluster, "field": _ours(field or message)}
    if field:
        evidence["object_field"] = field
    return fail(message, code=CODE, evidence=evidence, advice=hint)


def _ours(field: str) -> str:
    """Return the field of the config behind one of an object, as far as it can be told."""
    return next((ours for pattern, ours in _FIELDS if pattern.search(field)), "kubernetes")
