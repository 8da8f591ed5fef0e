import json
import socket
import threading
import time

import pytest
import yaml
from django.db import connection

from controlplane.common import encryption
from runs.models import Cluster
from tests.factories import make_user
from tests.fakes.kube import FakeCluster
from tests.waiting import wait_until
from tests.workers.kube.test_objects import spec
from workers import clusters, watcher
from workers.launchers import get


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=8).start()
    yield fake
    fake.stop()


def registered(cluster, tmp_path, **changes):

    path = cluster.kubeconfig(tmp_path / "kubeconfig")
    held = {"kubeconfig": yaml.safe_load(path.read_text())}
    values = {"name": "lab", "namespace": "team", "way": "kubeconfig", "image": "trainer:1"}
    values["credentials"] = encryption.encrypt(json.dumps(held))
    return Cluster.objects.create(created_by=make_user(), **values | changes)


@pytest.fixture
def woken(monkeypatch):
    calls = []
    monkeypatch.setattr(watcher, "wake", lambda name, **ids: calls.append((name, ids)))
    return calls


@pytest.fixture
def running():
    """Start watchers in threads; all end with the test."""
    over, threads = threading.Event(), []

    def start():
        thread = threading.Thread(target=_watch, args=(over,), daemon=True)
        thread.start()
        threads.append(thread)

    yield start
    over.set()
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()


def _watch(over):
    try:
        watcher.run_watcher(over)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_change_in_a_cluster_wakes_the_run(cluster, tmp_path, woken, running):
    registered(cluster, tmp_path)
    running()
    get("kubernetes:lab").start(spec(name="safehold-r41-a2", run_id=41))
    wait_until(lambda: ("workers.reconcile", {"run_id": 41}) in woken, 10, "nobody was woken")


@pytest.mark.django_db(transaction=True)
def test_of_two_watchers_one_works(cluster, tmp_path, woken, running):
    registered(cluster, tmp_path)
    running()
    wait_until(lambda: cluster.server.count("GET", "pods") >= 2, 10, "nobody watches")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [watcher._LOCK])
        assert cursor.fetchone()[0] is False


@pytest.mark.django_db(transaction=True)
def test_a_cluster_registered_later_is_followed(cluster, tmp_path, woken, running, monkeypatch):
    monkeypatch.setattr(watcher, "REFRESH_SECONDS", 0.1)
    running()
    registered(cluster, tmp_path)
    get("kubernetes:lab").start(spec(name="safehold-r7-a1", run_id=7))
    wait_until(lambda: ("workers.reconcile", {"run_id": 7}) in woken, 10, "nobody was woken")


@pytest.mark.django_db(transaction=True)
def test_a_cluster_that_is_removed_changed_or_unreadable_is_noticed_while_it_runs(
    cluster, tmp_path, woken, running, monkeypatch
):
    monkeypatch.setattr(watcher, "REFRESH_SECONDS", 0.1)
    registered(cluster, tmp_path, name="sealed", credentials="of another key")
    made = registered(cluster, tmp_path, name="other")
    running()
    wait_until(lambda: cluster.server.count("GET", "pods") >= 2, 10, "nobody watches")
    Cluster.objects.filter(pk=made.pk).update(is_enabled=False)
    time.sleep(0.5)
    Cluster.objects.filter(pk=made.pk).update(is_enabled=True)
    seen = cluster.server.count("GET", "pods")
    wait_until(lambda: cluster.server.count("GET", "pods") > seen, 10, "it is not followed again")


@pytest.mark.django_db(transaction=True)
def test_a_cluster_that_hangs_holds_up_no_other(cluster, tmp_path, woken, running, monkeypatch):
    monkeypatch.setattr(watcher, "REFRESH_SECONDS", 0.1)
    deaf = socket.create_server(("127.0.0.1", 0))
    registered(cluster, tmp_path, name="a-deaf-one", credentials=encryption.encrypt(json.dumps(
        {"url": f"http://127.0.0.1:{deaf.getsockname()[1]}", "token": "t"})), way="token")  # fmt: skip
    running()
    registered(cluster, tmp_path)
    get("kubernetes:lab").start(spec(name="safehold-r8-a1", run_id=8))
    wait_until(lambda: ("workers.reconcile", {"run_id": 8}) in woken, 5, "nobody was woken")
    deaf.close()


def test_many_changes_of_one_run_are_one_look():
    changes = watcher.Changes()
    for _ in range(200):
        changes.add("safehold-r5-a1")
    changes.add("somebody-elses")
    assert changes.take() == [5]
    assert changes.take() == []


@pytest.mark.django_db
def test_a_look_records_what_a_cluster_offers_and_that_it_does_not_answer(cluster, tmp_path):
    made = registered(cluster, tmp_path)
    clusters.look_at(made)
    made.refresh_from_db()
    assert (made.state, made.version) == ("reachable", "v1.36.2")
    assert made.survey["capacity"] == {"NVIDIA-H100-80GB-HBM3": 16}
    cluster.server.stop()
    clusters.look_at(made)
    made.refresh_from_db()
    since = made.state_at
    assert made.state == "unreachable"
    assert "gave no answer" in made.reason
    assert made.survey["capacity"], "what was known is kept"
    clusters.look_at(made)
    made.refresh_from_db()
    assert made.state_at == since


@pytest.mark.django_db
def test_a_cluster_whose_credentials_cannot_be_read_is_told_on_its_page(cluster, tmp_path):
    made = registered(cluster, tmp_path, credentials="stored with another key")
    clusters.look_at(made)
    made.refresh_from_db()
    assert made.state == "unreachable"
    assert "key" in made.reason
