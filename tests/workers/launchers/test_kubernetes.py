import json
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from tests.fakes.kube import FakeCluster, answers
from tests.fakes.kube.nodes import Behaviour
from tests.workers.kube.test_objects import spec
from workers.kube import recent
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.errors import KubeError
from workers.kube.kinds import JOB
from workers.kube.objects import Place
from workers.launchers import kubernetes
from workers.launchers.base import LauncherError, Presence
from workers.launchers.kubernetes import KubernetesLauncher

PLACE = Place(namespace="team", owner="us", image="trainer:1")
NAME = "safehold-r1-a2"


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=8).start()
    yield fake
    fake.stop()


@pytest.fixture
def launcher(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    path = cluster.kubeconfig(tmp_path / "kubeconfig")
    kube = Kube(Credentials(kubeconfig=yaml.safe_load(path.read_text())))
    return KubernetesLauncher(kube, PLACE, now=lambda: datetime.fromtimestamp(cluster.clock(), UTC))


def settle(cluster, *seconds):
    for step in seconds or (1, 1):
        cluster.tick(step)


def presence(launcher):
    return launcher.observe(NAME, {}).presence


def record(outcome="finished", **changes):
    return json.dumps({"v": 1, "outcome": outcome, "message": "done", "ranks": {}} | changes)


def test_a_start_is_observed_from_nothing_to_its_end(cluster, launcher):
    cluster.runtime.behave(Behaviour(seconds=5, message=record(ranks={"0": {"exit_code": 0}})))
    assert presence(launcher) is Presence.ABSENT
    handle = launcher.start(spec())
    assert presence(launcher) is Presence.PENDING
    settle(cluster)
    seen = launcher.observe(NAME, handle)
    assert (seen.presence, seen.where) == (Presence.RUNNING, "gpu-node-0, gpu-node-1")
    settle(cluster, 6, 1)
    seen = launcher.observe(NAME, handle)
    assert (seen.presence, seen.exit["outcome"]) == (Presence.EXITED, "finished")
    assert seen.exit["ranks"]["0"]["exit_code"] == 0


def test_starting_twice_makes_one_workload(cluster, launcher):
    first = launcher.start(spec())
    settle(cluster)
    assert launcher.start(spec()) == first
    settle(cluster)
    assert len(cluster.list("jobs")) == 1
    assert len(cluster.list("pods")) == 2


def test_a_start_whose_answer_was_lost_is_adopted(cluster, launcher):
    cluster.fail(
        lambda r: r.method == "POST" and r.resource.plural == "jobs", is_dropped_after=True
    )
    with pytest.raises(KubeError) as caught:
        launcher.start(spec())
    assert caught.value.can_retry
    launcher.start(spec())
    assert len(cluster.list("jobs")) == 1


@pytest.mark.parametrize("plural", ["secrets", "services", "jobs"])
def test_a_start_that_broke_anywhere_is_completed_by_the_next(cluster, launcher, plural):
    cluster.fail(
        lambda r: r.method == "POST" and r.resource.plural == plural, is_dropped_before=True
    )
    with pytest.raises(KubeError):
        launcher.start(spec())
    launcher.start(spec())
    for made in ("jobs", "secrets", "services"):
        assert len(cluster.list(made)) == 1
    settle(cluster)
    assert presence(launcher) is Presence.RUNNING


def test_a_job_of_somebody_else_is_never_adopted_nor_touched(cluster, launcher):
    foreign = {
        "metadata": {"name": NAME, "labels": {"owner": "them"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": []}}},
    }
    launcher._kube.create(JOB, "team", foreign)
    with pytest.raises(LauncherError, match="is not ours") as caught:
        launcher.start(spec())
    assert not caught.value.can_retry
    launcher.stop(NAME, {}, grace_seconds=1)
    launcher.kill(NAME, {})
    launcher.clean(NAME)
    assert cluster.find("jobs", "team", NAME)
    assert presence(launcher) is Presence.ABSENT


def test_a_refused_job_is_final_with_the_field(cluster, launcher):
    with pytest.raises(LauncherError, match="metadata.name") as caught:
        launcher.dry_run(spec(name="Not_Valid"))
    assert not caught.value.can_retry
    assert cluster.list("jobs") == []


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_cluster_is_tried_again(cluster, launcher, code):
    refused = answers.too_many_requests() if code == 429 else answers.Refused(code, "busy")
    cluster.fail(lambda r: r.method == "POST", before=refused)
    with pytest.raises(LauncherError) as caught:
        launcher.start(spec())
    assert caught.value.can_retry


def test_a_stop_gives_the_pods_their_grace_and_leaves_nothing(cluster, launcher):
    cluster.runtime.behave(Behaviour(is_deaf=True))
    handle = launcher.start(spec(grace_seconds=10))
    settle(cluster)
    launcher.stop(NAME, handle, grace_seconds=10)
    settle(cluster)
    assert presence(launcher) is Presence.RUNNING
    assert "being deleted" in launcher.observe(NAME, handle).reason
    settle(cluster, 30, 1, 1)
    seen = launcher.observe(NAME, handle)
    assert seen.is_gone
    assert cluster.list("pods") == []
    assert cluster.list("secrets") == []


def test_a_kill_ends_a_deaf_workload_at_once(cluster, launcher):
    cluster.runtime.behave(Behaviour(is_deaf=True))
    handle = launcher.start(spec())
    settle(cluster)
    launcher.kill(NAME, handle)
    settle(cluster, 1, 1, 1)
    assert launcher.observe(NAME, handle).is_gone


def test_stop_kill_and_fence_of_nothing_do_nothing(cluster, launcher):
    launcher.stop(NAME, {}, grace_seconds=1)
    launcher.kill(NAME, {})
    launcher.clean(NAME)
    assert presence(launcher) is Presence.ABSENT


def test_a_fenced_name_can_never_be_started(cluster, launcher):
    launcher.fence(NAME)
    launcher.fence(NAME)
    seen = launcher.observe(NAME, {})
    assert (seen.presence, seen.is_fenced, seen.is_gone) == (Presence.ABSENT, True, True)
    with pytest.raises(LauncherError, match="closed") as caught:
        launcher.start(spec())
    assert not caught.value.can_retry
    settle(cluster)
    assert cluster.list("pods") == []
    assert cluster.list("secrets") == []
    assert list(launcher.live_names()) == []


def test_a_cluster_that_cannot_be_seen_is_unreachable_and_not_absent(cluster, launcher):
    handle = launcher.start(spec())
    cluster.server.stop()
    seen = launcher.observe(NAME, handle)
    assert (seen.presence, seen.is_gone) == (Presence.UNREACHABLE, False)
    cluster.server.start()
    assert presence(launcher) is Presence.PENDING


def test_one_403_after_a_start_of_the_server_is_unreachable(cluster, launcher):
    launcher.start(spec())
    refused = answers.status(403, "Forbidden", "roles are not loaded yet")
    cluster.fail(lambda r: r.method == "GET", before=refused)
    assert presence(launcher) is Presence.UNREACHABLE
    assert presence(launcher) is Presence.PENDING


def test_pods_orphaned_behind_our_back_are_survivors_until_killed(cluster, launcher):
    handle = launcher.start(spec())
    settle(cluster)
    cluster.server.store.remove(
        next(r for r in cluster.server.resources if r.plural == "jobs"), "team", NAME
    )
    for pod in cluster.list("pods"):
        pod["metadata"].pop("ownerReferences")
    seen = launcher.observe(NAME, handle)
    assert seen.num_survivors == 2
    assert list(launcher.live_names()) == [NAME]
    launcher.kill(NAME, handle)
    settle(cluster, 1, 1, 1)
    assert launcher.observe(NAME, handle).is_gone


def test_a_lost_node_is_told_and_its_pods_are_given_up_only_after_a_while(cluster, launcher):
    handle = launcher.start(spec())
    settle(cluster)
    cluster.controllers.cut_off.add("gpu-node-0")
    settle(cluster, 1, 45)
    seen = launcher.observe(NAME, handle)
    assert (seen.presence, seen.is_gone) == (Presence.RUNNING, False)
    assert "gpu-node-0 does not answer" in seen.reason
    launcher.kill(NAME, handle)
    settle(cluster, 1, 1)
    assert not launcher.observe(NAME, handle).is_gone
    settle(cluster, timedelta(seconds=70).total_seconds())
    launcher.kill(NAME, handle)
    settle(cluster, 1)
    assert launcher.observe(NAME, handle).is_gone


def test_a_quota_refusal_and_missing_devices_are_told_in_words(cluster, launcher):
    cluster.make_quota(8)
    launcher.start(spec())
    settle(cluster)
    assert "Quota q is used up" in launcher.observe(NAME, {}).reason
    launcher.start(spec(name="safehold-r2-a1", run_id=2, attempt=1, devices=64, nodes=1))
    settle(cluster)


def test_the_quota_of_one_workload_is_not_told_of_another(cluster, launcher):
    cluster.make_quota(8)
    launcher.start(spec())
    settle(cluster)
    other = "safehold-r1-a20"
    launcher.start(spec(name=other, attempt=20, devices=1, nodes=1))
    assert launcher.observe(other, {}).reason == "0 of 1 pods exist."
    assert "Quota q is used up" in launcher.observe(NAME, {}).reason


def test_waiting_for_devices_is_told_with_the_counts(cluster, launcher):
    launcher.start(spec(devices=64, nodes=1))
    settle(cluster)
    assert launcher.observe(NAME, {}).reason.startswith("Waiting for devices: 0/2 nodes")


def test_a_suspended_job_of_a_queue_waits_in_words_and_is_never_resumed(cluster, launcher):
    cluster.server.custom_groups = frozenset({"kueue.x-k8s.io"})
    launcher.start(spec(config={"kubernetes": {"queue": "research"}}))
    settle(cluster)
    assert "Waiting for queue research" in launcher.observe(NAME, {}).reason
    job = cluster.find("jobs", "team", NAME)
    workloads = next(r for r in cluster.server.resources if r.plural == "workloads")
    waits = {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota"}
    made = {
        "metadata": {"name": "w", "ownerReferences": [{"uid": job["metadata"]["uid"]}]},
        "status": {"conditions": [waits]},
    }
    cluster.store.create(workloads, "team", made, dry_run=False)
    assert "insufficient unused quota" in launcher.observe(NAME, {}).reason
    assert cluster.find("jobs", "team", NAME)["spec"]["suspend"] is True


def test_any_number_of_runs_and_pods_costs_one_list_a_kind(cluster, launcher, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 60.0)
    for run in range(5):
        launcher.start(spec(name=f"safehold-r{run}-a1", run_id=run, attempt=1, devices=1, nodes=1))
    settle(cluster)
    cluster.server.requests.clear()
    for run in range(5):
        assert launcher.observe(f"safehold-r{run}-a1", {}).presence is Presence.RUNNING
    assert (cluster.server.count("GET", "jobs"), cluster.server.count("GET", "pods")) == (1, 1)


def test_two_control_planes_in_one_namespace_do_not_see_each_other(cluster, launcher):
    other = KubernetesLauncher(
        launcher._kube, Place(namespace="team", owner="them", image="trainer:1")
    )
    other.start(spec(name="safehold-r9-a9"))
    settle(cluster)
    assert list(launcher.live_names()) == []
    launcher.kill("safehold-r9-a9", {})
    assert cluster.find("jobs", "team", "safehold-r9-a9")


def test_a_section_that_cannot_be_used_is_final():
    with pytest.raises(LauncherError, match="memory") as caught:
        kubernetes.options_of({"kubernetes": {"memory": "lots"}})
    assert not caught.value.can_retry
