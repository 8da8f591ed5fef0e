from pathlib import Path

import pytest
from django.db import OperationalError

from controlplane.service import accounts, kubeconfigs, preparing
from controlplane.service.processes import Child
from controlplane.service.watching import RENEW_EVERY_SECONDS, ClusterWatch, KubeconfigWatch
from runs.models import Cluster
from runs.services import clusters
from tests.fakes.kube import FakeCluster


class Children:
    def __init__(self) -> None:
        self.added: list[str] = []

    def add(self, child: Child) -> None:
        self.added.append(child.name)


@pytest.fixture
def children() -> Children:
    return Children()


def test_the_watcher_starts_with_the_first_cluster_and_only_once(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, answers = [0.0], [False, True]
    monkeypatch.setattr(preparing, "has_clusters", lambda: answers.pop(0))
    watch = ClusterWatch(tmp_path, children, now=lambda: clock[0])  # type: ignore[arg-type]
    watch.tend()
    watch.tend()
    assert (children.added, len(answers)) == ([], 1)
    clock[0] += 2.0
    watch.tend()
    clock[0] += 2.0
    watch.tend()
    assert children.added == ["watcher"]


@pytest.mark.django_db
def test_credentials_that_were_rotated_are_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.db.connections.close_all", lambda: None)
    accounts.seed(tmp_path)
    path = FakeCluster(nodes=0).kubeconfig(tmp_path / "config")
    monkeypatch.setenv("KUBECONFIG", str(path))
    clock, said = [0.0], list[str]()
    kubeconfigs.register(say=said.append)
    watch = KubeconfigWatch(said.append, now=lambda: clock[0])
    path.write_text(path.read_text().replace("secret-token", "rotated-token"))
    watch.tend()
    assert token() == "secret-token", "it is not read at every call"
    clock[0] += RENEW_EVERY_SECONDS
    watch.tend()
    assert token() == "rotated-token"
    clock[0] += RENEW_EVERY_SECONDS
    watch.tend()
    assert len(said) == 2


def token() -> str:
    held = clusters.credentials_of(Cluster.objects.get())["kubeconfig"]
    return str(held["users"][0]["user"]["token"])


def test_a_database_that_is_away_is_asked_again(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> bool:
        raise OperationalError("the server is starting up")

    monkeypatch.setattr(preparing, "has_clusters", away)
    ClusterWatch(tmp_path, children).tend()  # type: ignore[arg-type]
    assert children.added == []
