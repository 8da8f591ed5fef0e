import pytest
import yaml

from tests.fakes.kube import FakeCluster
from workers.kube.api import Kube
from workers.kube.connecting import Credentials


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=8).start()
    yield fake
    fake.stop()


@pytest.fixture
def credentials(cluster, tmp_path):
    path = cluster.kubeconfig(tmp_path / "kubeconfig")
    return Credentials(kubeconfig=yaml.safe_load(path.read_text()))


@pytest.fixture
def kube(credentials):
    return Kube(credentials)
