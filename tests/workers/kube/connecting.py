"""The client of a fake cluster."""

from pathlib import Path

import yaml

from tests.fakes.kube import FakeCluster
from workers.kube.api import Kube
from workers.kube.connecting import Credentials


def kube_of(cluster: FakeCluster, folder: Path) -> Kube:
    """Return a client by a kubeconfig, as a user has one."""
    path = cluster.kubeconfig(folder / "kubeconfig")
    return Kube(Credentials(kubeconfig=yaml.safe_load(path.read_text())))
