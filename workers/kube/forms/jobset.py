"""A JobSet (https://jobset.sigs.k8s.io): for clusters whose tools watch JobSets. Restarts stay ours: none of its own."""

from collections.abc import Mapping
from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube import objects, template
from workers.kube.forms.base import Json, form
from workers.kube.kinds import JOBSET
from workers.kube.objects import Place
from workers.launchers.base import LaunchSpec

_GROUP = "node"
_ENDS = {"Completed": "Complete", "Failed": "Failed"}


@form("jobset")
class JobSet:
    """One replicated Job with a pod a node; the JobSet makes the headless Service."""

    kind = JOBSET
    makes_service = False

    def build(self, spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
        """Return the JobSet; its pods are named `NAME-node-0-INDEX`."""
        first_pod = f"{spec.name}-{_GROUP}-0-0.{spec.name}"
        child: Json = {
            "completionMode": "Indexed",
            "completions": spec.nodes,
            "parallelism": spec.nodes,
            "backoffLimit": 0,
            "template": template.pod_template(spec, options, place, first_pod=first_pod),
        }
        # The JobSet gives its pods their subdomain itself.
        del child["template"]["spec"]["subdomain"]
        if options.deadline_seconds:
            child["activeDeadlineSeconds"] = options.deadline_seconds
        return {
            "apiVersion": JOBSET.api_version,
            "kind": JOBSET.name,
            "metadata": objects.queued_metadata(spec, options, place),
            "spec": {
                "suspend": bool(options.queue),
                "network": {"enableDNSHostnames": True, "subdomain": spec.name},
                "failurePolicy": {"maxRestarts": 0},
                "replicatedJobs": [{"name": _GROUP, "replicas": 1, "template": {"spec": child}}],
            },
        }

    def as_job(self, item: Mapping[str, Any]) -> Json:
        """Return a Job with the JobSet's ends, suspension and number of pods."""
        groups = item.get("spec", {}).get("replicatedJobs") or []
        pods = sum(
            int(group.get("replicas", 1)) * int(group["template"]["spec"].get("completions", 1))
            for group in groups
        )
        return objects.job_like(item, ends=_ENDS, completions=pods or 1)

    def tombstone(self, name: str, place: Place) -> Json:
        """Return a suspended JobSet."""
        child = {"backoffLimit": 0, "template": {"spec": template.idle_pod(place)}}
        return {
            "apiVersion": JOBSET.api_version,
            "kind": JOBSET.name,
            "metadata": objects.tombstone_metadata(name, place),
            "spec": {
                "suspend": True,
                "replicatedJobs": [{"name": _GROUP, "replicas": 1, "template": {"spec": child}}],
            },
        }
