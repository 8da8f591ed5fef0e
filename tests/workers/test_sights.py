"""What a pass keeps of a cluster beside the state: pods, warnings, drift."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import Event, LogChunk, Sight
from safehold.config import canonical_document
from tests.factories import make_attempt, make_config, make_run, make_user
from tests.fakes.kube import FakeCluster
from tests.fakes.kube.nodes import Behaviour
from tests.safehold.documents import make_config as make_document
from tests.workers.test_watcher import registered
from workers import launchers, sights, specs
from workers.kube import recent
from workers.launchers import kubernetes

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=1).start()
    yield fake
    fake.stop()


@pytest.fixture
def launcher(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    registered(cluster, tmp_path)
    return launchers.get("kubernetes:lab")


def attempt_of(**changes):
    """Return an attempt with a config that the product would make."""
    document = canonical_document(
        make_document(compute__launcher="kubernetes", compute__devices=2, compute__nodes=2)
    )
    run = make_run(config=make_config(document=document), launcher="kubernetes:lab")
    return make_attempt(run=run, state="running", **changes)


@pytest.fixture
def attempt(launcher, cluster):
    made = attempt_of()
    launcher.start(specs.spec_of(made))
    return made


def kept(attempt):
    return Sight.objects.get(attempt=attempt)


def test_pods_are_kept_with_node_word_and_exit_code(attempt, launcher, cluster):
    cluster.runtime.behave(Behaviour(seconds=5, exit_code=3))
    cluster.tick(1)
    cluster.tick(1)
    sights.keep(attempt, launcher)
    rows = kept(attempt).pods["rows"]
    assert [(one["index"], one["node"], one["word"]) for one in rows] == [
        (0, "gpu-node-0", "running"),
        (1, "gpu-node-1", "running"),
    ]
    cluster.tick(6)
    sights.keep(attempt, launcher)
    assert {(one["word"], one["exit_code"]) for one in kept(attempt).pods["rows"]} == {
        ("failed", 3)
    }


def test_the_output_of_pods_that_died_without_a_word_is_kept_once(attempt, launcher, cluster):
    cluster.runtime.behave(
        Behaviour(seconds=1, exit_code=1, log=b"python: No module named safehold\n")
    )
    cluster.tick(1)
    cluster.tick(2)
    for _ in range(2):
        sights.keep(attempt, launcher)
    kept_logs = {c.source: bytes(c.data) for c in LogChunk.objects.filter(attempt=attempt)}
    assert sorted(kept_logs) == ["pod-0", "pod-1"]
    assert b"No module named safehold" in kept_logs["pod-0"]
    assert len([r for r in cluster.server.requests if r.subresource == "log"]) == 2


def test_a_pod_whose_wrapper_told_its_end_is_not_read(attempt, launcher, cluster):
    told = json.dumps({"v": 1, "outcome": "failed", "message": "Rank 0", "ranks": {}})
    cluster.runtime.behave(Behaviour(seconds=1, exit_code=1, message=told))
    cluster.tick(1)
    cluster.tick(2)
    sights.keep(attempt, launcher)
    assert not LogChunk.objects.filter(attempt=attempt).exists()


def test_the_rows_outlive_the_pods(attempt, launcher, cluster):
    cluster.tick(1)
    sights.keep(attempt, launcher)
    launcher.kill(attempt.name, {})
    cluster.tick(1)
    cluster.tick(1)
    sights.keep(attempt, launcher)
    assert cluster.list("pods") == []
    assert kept(attempt).pods["words"] == {"gone": 2}


def test_a_warning_of_the_cluster_is_told_once(attempt, launcher, cluster):
    cluster.make_quota(0)
    other = attempt_of(number=1)
    launcher.start(specs.spec_of(other))
    cluster.tick(1)
    for _ in range(3):
        sights.keep(other, launcher)
    (event,) = Event.objects.filter(run=other.run, kind="cluster")
    assert "exceeded quota" in event.message


def test_an_edit_behind_our_back_is_flagged_once_and_looked_for_now_and_then(
    attempt, launcher, cluster
):
    cluster.tick(1)
    sights.keep(attempt, launcher)
    assert kept(attempt).drift == []
    name = cluster.list("pods")[0]["metadata"]["name"]
    pod = cluster.store.objects["pods", "team", name]
    pod["spec"]["containers"][0]["image"] = "evil:1"
    sights.keep(attempt, launcher)
    assert kept(attempt).drift == [], "the last comparison is fresh"
    for _ in range(2):
        Sight.objects.update(drift_checked_at=timezone.now() - timedelta(seconds=31))
        sights.keep(attempt, launcher)
    (finding,) = kept(attempt).drift
    assert finding["evidence"]["field"] == "spec.containers.trainer.image"
    (event,) = Event.objects.filter(run=attempt.run, kind="drift")
    assert "evil:1" in event.message


def test_what_was_started_and_left_alone_never_drifts(attempt, launcher, cluster):
    for _ in range(3):
        cluster.tick(2)
        assert launcher.drift(specs.spec_of(attempt)) == []


def test_a_look_replaces_no_token_that_cannot_be_derived_any_more(attempt, launcher, settings):
    before = attempt.token_hash
    settings.SECRET_KEY = "another"
    sights.keep(attempt, launcher)
    attempt.refresh_from_db()
    assert attempt.token_hash == before
    assert attempt.sight.drift == []


def test_a_cluster_out_of_sight_holds_nothing_up(attempt, launcher, cluster):
    cluster.server.stop()
    sights.keep(attempt, launcher)
    assert not Sight.objects.exists()


def test_one_look_costs_no_list_of_its_own(attempt, launcher, cluster, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 60.0)
    cluster.tick(1)
    cluster.server.requests.clear()
    launcher.observe(attempt.name, {})
    sights.keep(attempt, launcher)
    assert (cluster.server.count("GET", "jobs"), cluster.server.count("GET", "pods")) == (1, 1)


def test_a_document_that_was_changed_in_the_database_is_not_started():
    attempt = attempt_of()
    attempt.run.config.document["train"]["steps"] = 7
    with pytest.raises(kubernetes.LauncherError, match="somebody changed it") as caught:
        specs.spec_of(attempt)
    assert not caught.value.can_retry


def test_a_launcher_that_shows_nothing_is_left_alone():
    sights.keep(make_attempt(run=make_run(created_by=make_user())), object())
    assert not Sight.objects.exists()
