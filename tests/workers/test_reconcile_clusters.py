"""The rules that only a cluster brings about: what is told of pods, deleted workloads, nodes."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from runs.states import OUTSIDE, Outcome, State, shown
from tests.workers.test_reconcile import ABSENT, FENCED, NOW, ago, attempt, run
from workers import facts as f
from workers import orphans
from workers.kube import recent
from workers.launchers.base import Observation, Presence
from workers.reconcile import decide


def record(outcome: str, **changes: object) -> dict[str, object]:
    told = {
        "v": 1, "started_at": "", "ended_at": "2026-01-01T11:59:00+00:00", "outcome": outcome,
        "ranks": {}, "signal": None, "message": "So it was.",
    }  # fmt: skip
    return told | changes


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("finished", Outcome.FINISHED),
        ("failed", Outcome.FAILED),
        ("taken_away", Outcome.TAKEN_AWAY),
        ("could_not_start", Outcome.COULD_NOT_START),
    ],
)
def test_a_workload_that_is_gone_ended_as_its_wrapper_sent(told, expected):
    [end] = decide(run(attempt(exit=record(told))), FENCED, NOW)
    assert (end.outcome, end.reason) == (expected, "So it was.")


@pytest.mark.parametrize(
    ("told", "expected"),
    [("taken_away", Outcome.TAKEN_AWAY), ("could_not_start", Outcome.COULD_NOT_START)],
)
def test_what_the_cluster_tells_of_an_end_is_the_outcome(told, expected):
    seen = Observation(presence=Presence.EXITED, exit=record(told))
    [end] = decide(run(attempt()), seen, NOW)
    assert (end.outcome, end.reason) == (expected, "So it was.")


def test_what_was_taken_away_while_it_stopped_is_stopped():
    seen = Observation(presence=Presence.EXITED, exit=record("taken_away"))
    [end] = decide(run(attempt(State.STOPPING)), seen, NOW)
    assert end.outcome is Outcome.STOPPED
    assert "before it confirmed that it saved" in end.reason


def test_a_pod_that_ran_out_of_memory_is_named_before_the_ranks_that_ended_with_it():
    ranks = {"0": {"exit_code": 1, "signal": None, "error": "Connection closed by peer"}}
    message = "Pod a-1 (node rank 1): Its container used more host memory than its limit."
    seen = Observation(
        presence=Presence.EXITED, exit=record("failed", ranks=ranks, message=message)
    )
    [end] = decide(run(attempt()), seen, NOW)
    assert (end.outcome, end.reason) == (Outcome.FAILED, message)


def test_a_workload_that_can_never_start_is_removed_and_its_reason_kept():
    told = record("could_not_start", message="The image cannot be pulled.")
    seen = Observation(presence=Presence.EXITED, exit=told, num_survivors=2, reason="Image.")
    waiting = attempt(State.WAITING)
    assert decide(run(waiting), seen, NOW) == [f.KeepExit(told), f.Kill("Image.")]
    kept = attempt(State.WAITING, exit=told)
    assert decide(run(kept), seen, NOW) == [f.Kill("Image.")]
    assert decide(run(kept), ABSENT, NOW) == [f.Fence()]
    [end] = decide(run(kept), FENCED, NOW)
    assert (end.outcome, end.reason) == (Outcome.COULD_NOT_START, "The image cannot be pulled.")


@pytest.mark.parametrize(
    "known", [{"has_handle": True}, {"last_seen_at": ago(1)}, {"exit": record("finished")}]
)
def test_the_name_of_a_workload_that_was_there_is_not_used_again(known):
    assert decide(run(attempt(State.SUBMITTING, **known)), ABSENT, NOW) == [f.Fence()]


def test_a_node_that_does_not_answer_is_told_while_it_is_so():
    seen = Observation(presence=Presence.RUNNING, handle={"uid": "x"}, reason="Node n is silent.")
    [noted] = decide(run(attempt()), seen, NOW)
    assert noted == f.NoteReason(f"{OUTSIDE}Node n is silent.")
    told = attempt(reason=noted.reason)
    assert decide(run(told), seen, NOW) == []
    well = Observation(presence=Presence.RUNNING, handle={"uid": "x"})
    assert decide(run(told), well, NOW) == [f.NoteReason("")]
    assert decide(run(attempt()), well, NOW) == []


def test_a_stop_that_takes_too_long_tells_which_pods_are_left():
    reason = "It is being deleted; 1 of its pods are left: a-0-x."
    seen = Observation(presence=Presence.RUNNING, reason=reason)
    late = attempt(State.STOPPING, state_at=ago(80))
    assert f.NoteReason(f"{OUTSIDE}{reason}") in decide(run(late), seen, NOW)
    early = attempt(State.STOPPING, state_at=ago(20))
    assert not [a for a in decide(run(early), seen, NOW) if isinstance(a, f.NoteReason)]


def test_lost_contact_is_shown_with_what_is_seen_from_outside():
    from tests.runs.test_states import facts

    lost = facts(
        state=State.RUNNING, contact_lost_since=NOW, reason=f"{OUTSIDE}Node n is silent."
    )  # fmt: skip
    assert shown(run(None).desired, lost).why.endswith("As seen from outside: Node n is silent.")


@pytest.mark.django_db
class TestLeftovers:
    """What ended attempts leave in a cluster is removed, once no late start can come any more."""

    def test_it_stays_until_nobody_can_be_starting_it(self, cluster_launcher):
        ended, cluster, launcher = cluster_launcher
        assert cluster.find("jobs", "team", ended.name)
        assert orphans.clean_up() == 0
        assert cluster.find("jobs", "team", ended.name)
        with time_machine.travel(datetime.now().astimezone() + orphans.KEEP * 2):
            assert orphans.clean_up() == 1
        for plural in ("jobs", "secrets", "services"):
            assert cluster.list(plural) == []

    def test_a_closed_name_is_opened_as_late(self, cluster_launcher):
        ended, cluster, launcher = cluster_launcher
        launcher.clean(ended.name)
        launcher.fence(ended.name)
        assert orphans.clean_up() == 0
        with time_machine.travel(datetime.now().astimezone() + orphans.KEEP * 2):
            assert orphans.clean_up() == 1
        assert cluster.list("jobs") == []

    def test_what_belongs_to_an_open_attempt_or_nobody_is_left_alone(self, cluster_launcher):
        ended, cluster, launcher = cluster_launcher
        type(ended).objects.filter(pk=ended.pk).update(state="running", outcome="", ended_at=None)
        with time_machine.travel(datetime.now().astimezone() + timedelta(days=1)):
            assert orphans.clean_up() == 0
            ended.delete()
            assert orphans.clean_up() == 0
        assert cluster.find("jobs", "team", ended.name)


@pytest.fixture
def cluster_launcher(tmp_path, monkeypatch):
    """An ended attempt whose workload lies finished in a fake cluster."""
    from tests.factories import make_attempt, make_run
    from tests.fakes.kube import FakeCluster
    from tests.fakes.kube.nodes import Behaviour
    from tests.workers.kube.connecting import kube_of
    from tests.workers.kube.test_objects import PLACE, spec
    from workers import launchers
    from workers.launchers import kubernetes

    launchers.names()
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    cluster = FakeCluster().start()
    cluster.runtime.behave(Behaviour(seconds=0))
    launcher = kubernetes.KubernetesLauncher(kube_of(cluster, tmp_path), PLACE)
    monkeypatch.setattr(launchers, "_factories", {"test": lambda: launcher})
    now = timezone.now()
    ended = make_attempt(
        run=make_run(launcher="test"), state="ended", outcome="finished", ended_at=now
    )
    launcher.start(spec(name=ended.name, run_id=ended.run_id, attempt=1))
    cluster.tick()
    yield ended, cluster, launcher
    cluster.stop()
