"""Kinds of workload that a cluster serves to others, or serves later, or no longer."""

import pytest

from tests.fakes.kube import answers
from tests.workers.kube.connecting import kube_of
from tests.workers.kube.test_objects import PLACE, spec
from tests.workers.launchers.test_kubernetes import NAME, cluster, settle
from workers.kube import recent
from workers.kube.errors import KubeError
from workers.launchers.base import Presence
from workers.launchers.kubernetes import KubernetesLauncher

__all__ = ["cluster"]
JOBSETS = frozenset({"jobset.x-k8s.io"})
AS_JOBSET = {"kubernetes": {"workload": "jobset"}}


@pytest.fixture
def launcher(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    return KubernetesLauncher(kube_of(cluster, tmp_path), PLACE)


def hide(cluster, code=403):
    refused = answers.status(code, "Forbidden", 'User "u" cannot list resource "jobsets"')
    return cluster.fail(lambda r: "/jobsets" in r.path, times=99, before=refused)


def test_a_kind_that_we_may_not_see_hides_no_job(cluster, launcher):
    cluster.server.custom_groups = JOBSETS
    hide(cluster)
    handle = launcher.start(spec())
    settle(cluster)
    assert launcher.observe(NAME, handle).presence is Presence.RUNNING
    launcher.kill(NAME, handle)
    settle(cluster)
    assert launcher.observe(NAME, handle).is_gone
    launcher.fence(NAME)
    assert launcher.observe(NAME, handle).is_fenced


@pytest.mark.parametrize("code", [403, 404])
def test_a_workload_whose_kind_is_out_of_sight_is_unreachable_and_not_absent(
    cluster, launcher, code
):
    cluster.server.custom_groups = JOBSETS
    handle = launcher.start(spec(config=AS_JOBSET))
    assert handle["kind"] == "JobSet"
    assert launcher.observe(NAME, handle).presence is Presence.PENDING
    hidden = hide(cluster, code)
    seen = launcher.observe(NAME, handle)
    assert (seen.presence, seen.is_gone) == (Presence.UNREACHABLE, False)
    assert "does not let us see any JobSet" in seen.reason
    hidden.times = 0
    assert launcher.observe(NAME, handle).handle == handle


def test_a_kind_that_was_installed_later_is_seen_at_once(cluster, launcher):
    assert launcher.observe(NAME, {}).presence is Presence.ABSENT
    cluster.server.custom_groups = JOBSETS
    handle = launcher.start(spec(config=AS_JOBSET))
    assert launcher.observe(NAME, handle).presence is Presence.PENDING


def test_a_webhook_that_takes_no_tombstone_holds_up_no_end(cluster, launcher):
    cluster.server.custom_groups = frozenset({"trainer.kubeflow.org"})
    denied = answers.status(403, "Forbidden", "admission webhook denied the request: no runtime")
    cluster.fail(lambda r: r.method == "POST" and "/trainjobs" in r.path, times=9, before=denied)
    launcher.fence(NAME)
    assert launcher.observe(NAME, {}).is_fenced


def test_a_busy_cluster_closes_no_name_in_part(cluster, launcher):
    cluster.server.custom_groups = JOBSETS
    busy = answers.status(500, "InternalError", "try again")
    cluster.fail(lambda r: r.method == "POST" and "/jobsets" in r.path, before=busy)
    with pytest.raises(KubeError, match="try again"):
        launcher.fence(NAME)
    launcher.fence(NAME)
    assert len(cluster.list("jobsets")) == 1
