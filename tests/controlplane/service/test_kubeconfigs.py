import os
from pathlib import Path

import pytest
import yaml

from controlplane.service import accounts, kubeconfigs
from runs.models import Cluster
from runs.services import clusters
from tests.fakes.kube import FakeCluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def said(tmp_path: Path) -> list[str]:
    accounts.seed(tmp_path)
    return []


def register(said: list[str]) -> None:
    kubeconfigs.register(say=said.append)


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = FakeCluster(nodes=0).kubeconfig(tmp_path / "config")
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


def test_without_kubeconfig_nothing_happens(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    register(said)
    assert said == []
    assert not kubeconfigs.has_clusters()


def test_the_current_context_is_registered(
    said: list[str], kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEHOLD_TRAINER_IMAGE", "trainer:9")
    register(said)
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.namespace, cluster.image) == ("fake", "team", "trainer:9")
    assert (
        clusters.credentials_of(cluster)["kubeconfig"]["users"][0]["user"]["token"]
        == "secret-token"
    )
    assert said == ["  cluster fake is registered from KUBECONFIG"]
    assert kubeconfigs.has_clusters()


def test_a_later_start_renews_the_credentials_and_nothing_else(
    said: list[str], kubeconfig: Path
) -> None:
    register(said)
    Cluster.objects.update(image="ours:2", namespace="other", ingest_url="http://here")
    kubeconfig.write_text(kubeconfig.read_text().replace("secret-token", "new-token"))
    register(said)
    cluster = Cluster.objects.get()
    assert (cluster.image, cluster.namespace, cluster.ingest_url) == (
        "ours:2",
        "other",
        "http://here",
    )
    assert "new-token" in str(clusters.credentials_of(cluster))


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"exec": {"command": "aws"}}, "signs in with a program (exec)"),
        ({"client-key": "/nowhere.key"}, "/nowhere.key"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_and_the_service_goes_on(
    said: list[str], kubeconfig: Path, user: dict[str, object], message: str
) -> None:
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] = user
    kubeconfig.write_text(yaml.safe_dump(document))
    register(said)
    assert len(said) == 1
    assert message in said[0]
    assert "\n" not in said[0]
    assert not Cluster.objects.exists()


def test_a_missing_file_is_told(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", os.fspath("/nowhere/config"))
    register(said)
    assert said[0].startswith("  KUBECONFIG is not used: /nowhere/config cannot be read")
