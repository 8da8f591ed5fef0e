"""The Indexed Job of Kubernetes itself: one pod a node."""

from collections.abc import Mapping
from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube import objects, template
from workers.kube.forms.base import Json, form
from workers.kube.kinds import JOB
from workers.kube.objects import Place
from workers.launchers.base import LaunchSpec


@form("job")
class IndexedJob:
    """Needs nothing but Kubernetes; a headless Service of ours names its pods."""

    kind = JOB
    makes_service = True

    def build(self, spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
        """Return the Job: no retries of its own, suspended where a queue admits it."""
        body: Json = {
            "completionMode": "Indexed",
            "completions": spec.nodes,
            "parallelism": spec.nodes,
            "backoffLimit": 0,
            "suspend": bool(options.queue),
            "template": template.pod_template(
                spec, options, place, first_pod=f"{spec.name}-0.{spec.name}"
            ),
        }
        if options.deadline_seconds:
            body["activeDeadlineSeconds"] = options.deadline_seconds
        return {
            "apiVersion": JOB.api_version,
            "kind": JOB.name,
            "metadata": objects.queued_metadata(spec, options, place),
            "spec": body,
        }

    def as_job(self, item: Mapping[str, Any]) -> Json:
        """Return the Job itself."""
        return dict(item)

    def tombstone(self, name: str, place: Place) -> Json:
        """Return a suspended Job: it makes no pods."""
        pod = template.idle_pod(place)
        return {
            "apiVersion": JOB.api_version,
            "kind": JOB.name,
            "metadata": objects.tombstone_metadata(name, place),
            "spec": {"suspend": True, "backoffLimit": 0, "template": {"spec": pod}},
        }
