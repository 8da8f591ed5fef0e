"""An attempt ends also where its cluster never lets us close the name: it would be open, and in the way, for ever."""

import pytest

from runs.models import Run
from runs.services import runs
from safehold.config import canonical_document
from tests.factories import make_config, make_run
from tests.fakes.kube import FakeCluster, answers
from tests.safehold.documents import make_config as make_document
from tests.workers.kube.test_objects import PLACE
from tests.workers.reporting import beat, launched, newest
from tests.workers.scripted import Scripted
from tests.workers.test_watcher import registered
from workers.kube import recent, writing
from workers.kube.kinds import JOB
from workers.launchers import get
from workers.launchers.base import LauncherError, Observation, Presence
from workers.passes import reconcile_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(writing, "ROLES_SECONDS", 0.0)
    fake = FakeCluster(nodes=2, gpus=1).start()
    registered(fake, tmp_path)
    yield fake
    fake.stop()


@pytest.fixture
def run(cluster) -> Run:
    document = canonical_document(
        make_document(compute__launcher="kubernetes", compute__devices=2, compute__nodes=2)
    )
    made = make_run(config=make_config(document=document), launcher="kubernetes:lab")
    runs.request_launch(run=made, user=made.created_by)
    return made


def trains(cluster: FakeCluster, run: Run) -> None:
    reconcile_run(run.pk)
    cluster.tick()
    beat(newest(run))
    reconcile_run(run.pk)
    assert newest(run).state == "running"


def remove(cluster: FakeCluster, *plurals: str) -> None:
    for resource in cluster.server.resources:
        if resource.plural in plurals:
            for item in cluster.list(resource.plural):
                cluster.store.remove(resource, "team", item["metadata"]["name"])


def delete_namespace(cluster: FakeCluster) -> None:
    remove(cluster, "jobs", "pods", "secrets", "services")
    spaces = next(one for one in cluster.server.resources if one.plural == "namespaces")
    cluster.store.remove(spaces, "", "team")


def test_a_run_whose_namespace_was_deleted_is_lost(cluster, run):
    trains(cluster, run)
    delete_namespace(cluster)

    reconcile_run(run.pk)

    assert (newest(run).state, newest(run).outcome) == ("ended", "lost")
    run.refresh_from_db()
    assert not run.needs_reconcile


def test_a_policy_against_bare_jobs_holds_up_no_end(cluster, run):
    trains(cluster, run)
    denied = answers.status(403, "Forbidden", "admission webhook denied the request: no limits")
    cluster.fail(lambda r: r.method == "POST" and "/jobs" in r.path, times=99, before=denied)
    remove(cluster, "jobs", "pods")

    reconcile_run(run.pk)

    assert newest(run).outcome == "lost"
    assert cluster.list("secrets") == []


def test_a_name_that_somebody_else_took_could_not_start(cluster, run):
    pod = {"spec": {"restartPolicy": "Never", "containers": []}}
    theirs = {"metadata": {"name": newest(run).name}, "spec": {"template": pod}}
    get("kubernetes:lab")._kube.create(JOB, PLACE.namespace, theirs)  # type: ignore[attr-defined]

    reconcile_run(run.pk)

    assert newest(run).outcome == "could_not_start"
    assert "exists in team and is not ours" in newest(run).reason
    [left] = cluster.list("jobs")
    assert "labels" not in left["metadata"] or "safehold.io/fence" not in left["metadata"]["labels"]


def test_a_stop_of_it_ends_too(cluster, run):
    pod = {"spec": {"restartPolicy": "Never", "containers": []}}
    theirs = {"metadata": {"name": newest(run).name}, "spec": {"template": pod}}
    get("kubernetes:lab")._kube.create(JOB, PLACE.namespace, theirs)  # type: ignore[attr-defined]
    runs.request_stop(run=run, user=run.created_by)

    reconcile_run(run.pk)

    assert newest(run).outcome == "stopped"


def test_a_busy_cluster_is_asked_again(cluster, run):
    trains(cluster, run)
    cluster.fail(
        lambda r: r.method == "POST" and "/jobs" in r.path, before=answers.too_many_requests()
    )
    remove(cluster, "jobs", "pods")

    reconcile_run(run.pk)

    assert newest(run).state == "running"


def test_what_was_started_since_the_look_goes_on(scripted: Scripted, monkeypatch):
    """The look that was decided on may be older than somebody's start."""
    run, _ = launched()
    reconcile_run(run.pk)
    beat(newest(run))
    name = newest(run).name

    def refuse(name: str) -> None:
        scripted.set(name, Presence.RUNNING)
        raise LauncherError("The namespace takes nothing.", can_retry=False)

    monkeypatch.setattr(scripted, "fence", refuse)
    scripted.seen[name] = Observation(presence=Presence.ABSENT)

    reconcile_run(run.pk)

    assert newest(run).state == "running"
