"""Where the pods may run, and as whom."""

from typing import Any

from safehold.config.kubernetes import Kubernetes, Spread, Toleration
from workers.kube import names
from workers.launchers.base import LaunchSpec

Json = dict[str, Any]


def build(spec: LaunchSpec, options: Kubernetes) -> Json:
    """Return the fields of a pod that place it; those not asked for are left out."""
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
