import json
import threading
from pathlib import Path

import pytest

from tests.fakes.kube import answers
from tests.workers.kube.test_objects import PLACE, spec
from workers.kube import names, objects, watching
from workers.kube.forms import FORMS
from workers.kube.kinds import JOB, POD

CASES = Path(__file__).parents[2] / "cases" / "kubeapi"


class Follower:
    """A watcher in a thread, and what it told."""

    def __init__(self, kube, kind=POD):
        self.kube, self.kind = kube, kind
        self.told, self.pauses = [], []
        self.over = threading.Event()
        self.noticed = threading.Condition()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        watching.follow(
            self.kube, self.kind, "team", owner="us", changed=self._changed,
            sleep=self._sleep, is_over=self.over.is_set, watch_seconds=1,
        )  # fmt: skip

    def _sleep(self, seconds):
        self.pauses.append(seconds)
        self.over.wait(min(seconds, 0.05))

    def _changed(self, workload):
        with self.noticed:
            self.told.append(workload)
            self.noticed.notify_all()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(timeout=10)
        assert not self.thread.is_alive()

    def wait_for(self, count):
        with self.noticed:
            assert self.noticed.wait_for(lambda: len(self.told) >= count, timeout=10), self.told


@pytest.fixture
def job(kube):
    def make(name="safehold-r1-a2"):
        kube.create(
            JOB, "team", FORMS["job"].build(spec(name=name, nodes=1), objects.Kubernetes(), PLACE)
        )

    return make


def test_changes_are_told_as_they_come(cluster, kube, job):
    with Follower(kube) as follower:
        job()
        cluster.tick()
        follower.wait_for(1)
    assert set(follower.told) == {"safehold-r1-a2"}


def test_only_our_own_objects_are_followed(cluster, kube, job):
    kube.create(JOB, "team", FORMS["job"].build(
        spec(name="theirs", nodes=1), objects.Kubernetes(),
        objects.Place(namespace="team", owner="them", image="x"),
    ))  # fmt: skip
    with Follower(kube) as follower:
        job()
        cluster.tick()
        follower.wait_for(1)
    assert "theirs" not in follower.told


def test_after_a_restart_of_the_server_it_lists_anew_and_goes_on(cluster, kube, job):
    with Follower(kube, JOB) as follower:
        job("safehold-r1-a2")
        follower.wait_for(1)
        cluster.restart_server()
        job("safehold-r2-a1")
        follower.wait_for(2)
    assert follower.told[-1] == "safehold-r2-a1"


def test_what_vanished_while_nobody_watched_is_told(cluster, kube, job):
    with Follower(kube, JOB) as follower:
        job()
        follower.wait_for(1)
        jobs = next(r for r in cluster.server.resources if r.plural == "jobs")
        cluster.server.stop()
        cluster.store.remove(jobs, "team", "safehold-r1-a2")
        cluster.store.forget_history()
        cluster.server.start()
        follower.wait_for(2)


def test_a_cluster_that_does_not_answer_is_asked_at_growing_distances(cluster, kube):
    refused = answers.too_many_requests()
    cluster.fail(lambda r: r.method == "GET", times=5, before=refused)
    with Follower(kube, JOB) as follower:
        while len(follower.pauses) < 5:
            follower.over.wait(0.01)
    # Retry-After asks for a second at least.
    assert all(pause >= 1 for pause in follower.pauses[:5])
    assert follower.pauses[4] > 2


def test_the_case_of_an_expired_watch_treats_what_is_missing_from_the_list_as_gone():
    held = watching.Held()
    lines = (CASES / "watch_410_in_stream.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        if event["type"] in {"ADDED", "MODIFIED"}:
            event["object"]["metadata"]["labels"][names.WORKLOAD] = "w-0"
            assert held.apply(event["type"], event["object"]) == "w-0"
            assert held.apply(event["type"], event["object"]) == "", "applied twice"
    listing = json.loads((CASES / "list_after_410.json").read_text())["items"]
    for item in listing:
        item["metadata"]["labels"][names.WORKLOAD] = "w-1"
    assert held.replace(listing) == {"w-0", "w-1"}
    assert held.replace(listing) == set()


def test_a_fault_of_ours_ends_no_watch_for_good(kube, job, monkeypatch):
    """A thread that ended would be noticed by nobody."""
    listed, faults = kube.list, [ValueError("a bug"), KeyError("uid")]

    def broken(*args, **named):
        if faults:
            raise faults.pop()
        return listed(*args, **named)

    monkeypatch.setattr(kube, "list", broken)
    with Follower(kube, JOB) as follower:
        job()
        follower.wait_for(1)
    assert follower.told == ["safehold-r1-a2"]
    assert len(follower.pauses) >= 2
