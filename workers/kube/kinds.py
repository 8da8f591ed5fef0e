"""The kinds of object that we read or write, and where they lie."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of the Kubernetes API."""

    group: str
    version: str
    plural: str
    name: str

    @property
    def api_version(self) -> str:
        """As it stands in an object."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of one object, or of the collection."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        space = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{space}/{self.plural}" + (f"/{name}" if name else "")


POD = Kind("", "v1", "pods", "Pod")
NODE = Kind("", "v1", "nodes", "Node")
SERVICE = Kind("", "v1", "services", "Service")
SECRET = Kind("", "v1", "secrets", "Secret")
EVENT = Kind("", "v1", "events", "Event")
JOB = Kind("batch", "v1", "jobs", "Job")
LEASE = Kind("coordination.k8s.io", "v1", "leases", "Lease")
JOBSET = Kind("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet")
TRAINJOB = Kind("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob")
WORKLOAD = Kind("kueue.x-k8s.io", "v1beta2", "workloads", "Workload")
LOCAL_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "localqueues", "LocalQueue")
CLUSTER_QUEUE = Kind("kueue.x-k8s.io", "v1beta2", "clusterqueues", "ClusterQueue")
