"""A TrainJob of Kubeflow Trainer v2 (https://www.kubeflow.org/docs/components/trainer/): the platform owns the runtime.

The runtime's template decides about storage classes, networks and the like; ours are the image, the command, the
environment, the resources and, as patches, what identifies and places the pods.
"""

from collections.abc import Mapping
from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube import names, objects, template
from workers.kube.forms.base import Json, form
from workers.kube.kinds import TRAINJOB
from workers.kube.objects import Place
from workers.launchers.base import LauncherError, LaunchSpec

# The replicated Job and container that every runtime of Trainer v2 names so.
_GROUP = "node"
_CONTAINER = "node"
_ENDS = {"Complete": "Complete", "Failed": "Failed"}
# Of the pod's settings those that a runtime can be patched with.
_PATCHED = (
    "affinity", "imagePullSecrets", "nodeSelector", "securityContext", "serviceAccountName",
    "terminationGracePeriodSeconds", "tolerations", "volumes",
)  # fmt: skip


@form("trainjob")
class TrainJob:
    """Trainer makes a JobSet of it, and that the headless Service."""

    kind = TRAINJOB
    makes_service = False

    def build(self, spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
        """Return the TrainJob.

        Raises:
            LauncherError: The config names no runtime.
        """
        if not options.runtime:
            message = "kubernetes.runtime: a TrainJob needs the name of a ClusterTrainingRuntime."
            raise LauncherError(message, can_retry=False)
        first_pod = f"{spec.name}-{_GROUP}-0-0.{spec.name}"
        pod = template.pod_template(spec, options, place, first_pod=first_pod)
        container = pod["spec"]["containers"][0]
        body: Json = {
            "runtimeRef": {"name": options.runtime, "kind": "ClusterTrainingRuntime"},
            "suspend": bool(options.queue),
            "trainer": {
                "image": container["image"],
                "command": container["command"],
                "env": container["env"],
                "numNodes": spec.nodes,
                "resourcesPerNode": container["resources"],
            },
            "runtimePatches": [self._patch(pod)],
        }
        if options.deadline_seconds:
            body["activeDeadlineSeconds"] = options.deadline_seconds
        return {
            "apiVersion": TRAINJOB.api_version,
            "kind": TRAINJOB.name,
            "metadata": objects.queued_metadata(spec, options, place),
            "spec": body,
        }

    def _patch(self, built: Json) -> Json:
        pod = {key: built["spec"][key] for key in _PATCHED if key in built["spec"]}
        container = built["spec"]["containers"][0]
        kept = {key: container[key] for key in ("securityContext", "volumeMounts")}
        pod["containers"] = [{"name": _CONTAINER} | kept]
        patched = {"metadata": built["metadata"], "spec": pod}
        group = {"name": _GROUP, "template": {"spec": {"template": patched}}}
        return {
            "manager": names.DOMAIN,
            "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [group]}}},
        }

    def as_job(self, item: Mapping[str, Any]) -> Json:
        """Return a Job with the TrainJob's ends, suspension and number of nodes."""
        nodes = (item.get("spec", {}).get("trainer") or {}).get("numNodes") or 1
        return objects.job_like(item, ends=_ENDS, completions=int(nodes))

    def tombstone(self, name: str, place: Place) -> Json:
        """Return a suspended TrainJob of a runtime that need not exist."""
        return {
            "apiVersion": TRAINJOB.api_version,
            "kind": TRAINJOB.name,
            "metadata": objects.tombstone_metadata(name, place),
            "spec": {"runtimeRef": {"name": "none"}, "suspend": True},
        }
