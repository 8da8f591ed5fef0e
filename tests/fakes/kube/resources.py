"""The kinds that the fake API server stores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Resource:
    """One kind and where it lies in the URL space."""

    group: str
    version: str
    plural: str
    kind: str
    is_namespaced: bool = True
    is_custom: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """As it stands in messages: `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


BUILT_IN = (
    Resource("", "v1", "namespaces", "Namespace", is_namespaced=False),
    Resource("", "v1", "nodes", "Node", is_namespaced=False),
    Resource("", "v1", "pods", "Pod"),
    Resource("", "v1", "services", "Service"),
    Resource("", "v1", "secrets", "Secret"),
    Resource("", "v1", "configmaps", "ConfigMap"),
    Resource("", "v1", "events", "Event"),
    Resource("", "v1", "resourcequotas", "ResourceQuota"),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    Resource("batch", "v1", "jobs", "Job"),
    Resource("coordination.k8s.io", "v1", "leases", "Lease"),
)
CUSTOM = (
    Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet", is_custom=True),
    Resource("kueue.x-k8s.io", "v1beta2", "workloads", "Workload", is_custom=True),
    Resource("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue", is_custom=True),
    Resource(
        "kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue", is_namespaced=False,
        is_custom=True,
    ),
    Resource("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob", is_custom=True),
    Resource(
        "trainer.kubeflow.org", "v1alpha1", "trainingruntimes", "TrainingRuntime", is_custom=True
    ),
    Resource(
        "trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes", "ClusterTrainingRuntime",
        is_namespaced=False, is_custom=True,
    ),
)  # fmt: skip
