"""A cluster and a whole service beside it, for the stories: the fake cluster, or that of KUBECONFIG."""

import base64
import contextlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from runs.models import Cluster
from runs.services import clusters
from tests.factories import make_user
from tests.fakes.kube import FakeCluster
from tests.fakes.kube.nodes import ProcessRuntime
from tests.live_service import LiveService
from tests.waiting import wait_until
from workers.clusters import kube_of, place_of
from workers.kube import names
from workers.kube.api import Kube
from workers.kube.errors import KubeError
from workers.kube.kinds import JOB, POD, SECRET, SERVICE, Kind
from workers.launchers.kubernetes import KubernetesLauncher

QUOTA = Kind("", "v1", "resourcequotas", "ResourceQuota")
QUOTA_NAME = "safehold-test"
OUTAGE_SECONDS = 5.0
_FILES = {"certificate-authority", "client-certificate", "client-key"}


@dataclass
class Ground:
    """Where the stories play.

    Attributes:
        service: Web, worker and clock of the control plane.
        cluster: Its record of the cluster; everything made there carries its owner.
        kubernetes: More of a config's section [kubernetes]: volumes that the pods need here.
        restart_api: Restarts the API server; None where nobody said how.
        num_many: How many pods are many here.
    """

    service: LiveService
    cluster: Cluster
    kubernetes: dict[str, Any] = field(default_factory=dict)
    restart_api: Callable[[], None] | None = None
    num_many: int = 64

    @property
    def kube(self) -> Kube:
        return kube_of(self.cluster)

    @property
    def launcher(self) -> KubernetesLauncher:
        return KubernetesLauncher(self.kube, place_of(self.cluster))

    @property
    def namespace(self) -> str:
        return self.cluster.namespace

    def pods(self, name: str = "") -> list[dict[str, Any]]:
        """Return our pods, of one workload or of all."""
        return self.ours(POD, name)

    def ours(self, kind: Kind, name: str = "") -> list[dict[str, Any]]:
        selector = names.selector(owner=self.cluster.owner, name=name)
        return self.kube.list(kind, self.namespace, selector=selector).items

    @contextlib.contextmanager
    def quota(self, hard: dict[str, str]) -> Iterator[None]:
        """Limit the namespace for a while."""
        item = {"metadata": {"name": QUOTA_NAME}, "spec": {"hard": hard}}
        self.kube.create(QUOTA, self.namespace, item)
        try:
            yield
        finally:
            self.kube.delete(QUOTA, self.namespace, QUOTA_NAME)

    def clean(self) -> None:
        """Remove what the stories made, by our labels alone, and wait until it is gone."""
        with contextlib.suppress(KubeError):
            self.kube.delete(QUOTA, self.namespace, QUOTA_NAME)
        for kind in (JOB, POD, SERVICE, SECRET):
            for item in self.ours(kind):
                metadata = item["metadata"]
                grace = 1 if kind is POD else None
                self.kube.delete(
                    kind, self.namespace, metadata["name"], uid=metadata["uid"], grace_seconds=grace
                )
        wait_until(lambda: not self.pods(), 90, lambda: f"pods are left: {self.pods()}", every=0.5)


@contextlib.contextmanager
def fake_ground(service: LiveService) -> Iterator[Ground]:
    """Play on the fake cluster: its pods' commands are processes of this machine."""
    fake = FakeCluster(nodes=2, gpus=4, runs_processes=True).start()
    assert isinstance(fake.runtime, ProcessRuntime)
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    fake.runtime.extra_env |= {"PATH": tools, "OMP_NUM_THREADS": "1"}
    fake.run()
    path = fake.kubeconfig(service.home / "kubeconfig")
    record = _registered(path.read_text(), service.url)
    volume = {"mount_path": str(service.home), "host_path": str(service.home)}

    def restart() -> None:
        fake.server.stop()
        time.sleep(OUTAGE_SECONDS)
        fake.store.forget_history()
        fake.server.start()

    try:
        # Each of its pods is three interpreters of this machine.
        yield Ground(service, record, {"volumes": [volume]}, restart, num_many=16)
    finally:
        fake.stop()


@contextlib.contextmanager
def real_ground(service: LiveService) -> Iterator[Ground]:
    """Play in the namespace of KUBECONFIG's context; docs/how-to/test-on-a-cluster.md has the variables."""
    url = os.environ.get("SAFEHOLD_TEST_URL", service.url)
    record = _registered(flattened(Path(os.environ["KUBECONFIG"].split(":")[0])), url)
    command = os.environ.get("SAFEHOLD_TEST_RESTART")
    restart = (lambda: subprocess.run(shlex.split(command), check=True)) if command else None
    ground = Ground(service, record, _volumes(service), restart)  # type: ignore[arg-type]
    try:
        yield ground
    finally:
        ground.clean()


def flattened(path: Path) -> str:
    """Return a kubeconfig with the files that it names put into it."""
    document = yaml.safe_load(path.read_text())
    entries = [entry["user"] for entry in document.get("users") or []]
    entries += [entry["cluster"] for entry in document.get("clusters") or []]
    for entry in entries:
        for key in _FILES & entry.keys():
            data = (path.parent / entry.pop(key)).read_bytes()
            entry[f"{key}-data"] = base64.b64encode(data).decode()
        if "tokenFile" in entry:
            entry["token"] = (path.parent / entry.pop("tokenFile")).read_text().strip()
    return yaml.safe_dump(document)


def _registered(kubeconfig: str, url: str) -> Cluster:
    return clusters.register_cluster(
        user=make_user(is_superuser=True), name="ground", namespace="", way="kubeconfig",
        image=os.environ.get("SAFEHOLD_TEST_IMAGE", "trainer:1"), kubeconfig=kubeconfig,
        ingest_url=url,
    )  # fmt: skip


def _volumes(service: LiveService) -> dict[str, Any]:
    """Return the volume on which pods find data and checkpoints; none where they see this machine's files."""
    claim = os.environ.get("SAFEHOLD_TEST_CLAIM", "")
    if not claim:
        return {}
    return {"volumes": [{"mount_path": str(shared_folder(service)), "claim": claim}]}


def shared_folder(service: LiveService) -> Path:
    """Return the folder that this machine and the pods both see."""
    return Path(os.environ.get("SAFEHOLD_TEST_DIR", service.home))
