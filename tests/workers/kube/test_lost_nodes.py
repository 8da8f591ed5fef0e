"""A node that fell silent, told with and without the right to see nodes."""

from datetime import UTC, datetime

import pytest

from tests.fakes.kube import answers
from tests.workers.kube.test_behaviours import START, job, pod, seen
from tests.workers.kube.test_objects import PLACE, spec
from workers.kube import recent
from workers.kube.pods import silent_since
from workers.launchers.base import Presence
from workers.launchers.kubernetes import KubernetesLauncher

RUNNING = {"running": {"startedAt": START}}
SINCE = "2026-01-01T11:30:00Z"


def silent(*, is_ready=True, reason="", **changes):
    """A pod from which the node controller took Ready, and nothing else."""
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": SINCE}
    found = pod(state=RUNNING, conditions=[ready | ({"reason": reason} if reason else {})])
    found["status"]["containerStatuses"][0]["ready"] = is_ready
    found["metadata"] |= changes
    return found


@pytest.mark.parametrize("reason", ["", "NodeNotReady", "ContainersNotReady"])
def test_a_pod_that_lost_ready_alone_is_on_a_silent_node(reason):
    told = seen(job(), silent(reason=reason))
    assert told.reason == "Node n does not answer; its pods may still run there."
    assert told.lost_since == datetime(2026, 1, 1, 11, 30, tzinfo=UTC)


def test_a_container_that_is_not_ready_says_nothing_of_its_node():
    assert silent_since(silent(is_ready=False, reason="ContainersNotReady")) == ""
    assert silent_since(silent(reason="ReadinessGatesNotReady")) == ""


@pytest.mark.parametrize("type_", ["FailureTarget", "SuccessCriteriaMet"])
def test_an_end_that_a_silent_node_holds_up_is_told_as_such(type_):
    told = seen(job((type_, "True", "BackoffLimitExceeded")), silent(deletionTimestamp=START))
    assert told.presence is Presence.RUNNING
    assert "does not answer" in told.reason
    assert told.lost_since is not None


def test_without_the_right_to_see_nodes_a_kill_goes_by_the_pod(cluster, kube, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    launcher = KubernetesLauncher(
        kube, PLACE, now=lambda: datetime.fromtimestamp(cluster.clock(), UTC)
    )
    launcher.start(spec(nodes=1, devices=1))
    cluster.tick()
    cluster.controllers.cut_off.add("gpu-node-0")
    for _ in range(30):
        cluster.tick(5)
    forbidden = answers.status(403, "Forbidden", 'User "u" cannot list resource "nodes"')
    cluster.fail(lambda r: "/nodes" in r.path, times=99, before=forbidden)
    told = launcher.observe("safehold-r1-a2", {})
    assert (told.presence, told.lost_since is not None) == (Presence.RUNNING, True)
    launcher.kill("safehold-r1-a2", {})
    cluster.tick()
    assert cluster.list("pods") == []
