"""The launcher of a cluster keeps the contract of all launchers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fakes.kube import FakeCluster
from tests.fakes.kube.nodes import Behaviour
from tests.workers.kube.connecting import kube_of
from tests.workers.launchers.contract import LauncherContract
from workers.kube import recent
from workers.kube.objects import Place
from workers.launchers.base import LaunchSpec
from workers.launchers.kubernetes import KubernetesLauncher


def _told(outcome: str) -> str:
    return json.dumps({"v": 1, "outcome": outcome, "message": "done", "ranks": {}})


BEHAVIOURS = {
    "waits": Behaviour(is_deaf=True),
    "stops": Behaviour(exit_code_on_stop=0, message_on_stop=_told("stopped")),
    "finishes": Behaviour(seconds=0, message=_told("finished")),
    "fails": Behaviour(seconds=0, exit_code=1, message=_told("failed")),
}


@dataclass
class ClusterBench:
    """A cluster that acts by itself; pods behave as their `PROGRAM` says."""

    cluster: FakeCluster
    folder: Path
    launcher: KubernetesLauncher = field(init=False)

    def __post_init__(self) -> None:
        place = Place(namespace="team", owner="us", image="trainer:1")
        self.launcher = KubernetesLauncher(kube_of(self.cluster, self.folder), place)

    def spec(self, name: str, kind: str = "waits") -> LaunchSpec:
        return LaunchSpec(
            name=name, run_id=1, attempt=int(name.rpartition("a")[2]), config={}, devices=1,
            command=("train", kind), token="sha_secret", ingest_url="http://127.0.0.1:1",
            checkpoint_root=Path("/ckpt"), grace_seconds=1,
        )  # fmt: skip

    def num_started(self, name: str) -> int:
        changes = [change for change in self.cluster.store.window if change.type == "ADDED"]
        jobs = [change.object for change in changes if change.plural == "jobs"]
        # A tombstone is suspended and starts nothing.
        return sum(job["metadata"]["name"] == name and not job["spec"]["suspend"] for job in jobs)

    def take_sight(self, name: str) -> None:
        self.cluster.server.stop()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterBench]:
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    cluster = FakeCluster().start()
    for kind, behaviour in BEHAVIOURS.items():
        cluster.runtime.behave(
            behaviour, lambda pod, kind=kind: pod["spec"]["containers"][0]["command"][-1] == kind
        )
    cluster.run(0.02)
    yield ClusterBench(cluster, tmp_path)
    cluster.stop()


class TestKubernetes(LauncherContract):
    """See there."""
