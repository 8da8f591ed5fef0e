"""What a cluster takes away, and what is given up because nobody can see it any more."""

from datetime import timedelta

import pytest

from runs.states import Outcome, State
from tests.workers.test_reconcile import FENCED, NOW, ago, attempt, run
from workers import facts as f
from workers.launchers.base import Observation, Presence
from workers.reconcile import decide

LOST = f.Limits().node_lost


def lost(since=LOST):
    reason = "Node n does not answer; its pods may still run there."
    return Observation(presence=Presence.RUNNING, reason=reason, lost_since=NOW - since)


def silent(**changes):
    return attempt(has_handle=True, last_seen_at=ago(600), contact_lost_since=ago(580), **changes)


def kinds(actions):
    return [type(action) for action in actions]


def test_an_attempt_on_a_lost_node_is_given_up_after_a_while_with_its_token_revoked():
    actions = decide(run(silent()), lost(), NOW)
    assert kinds(actions)[-3:] == [f.KeepExit, f.RevokeToken, f.Kill]
    kept = actions[-3].exit
    assert kept["outcome"] == "taken_away"
    assert kept["message"] == "Its node did not answer for 300 s and was given up."
    [end] = decide(run(silent(exit=kept)), FENCED, NOW)
    assert (end.outcome, end.at) == (Outcome.TAKEN_AWAY, ago(600))


def test_it_is_ended_again_until_it_is_gone_and_noted_once():
    kept = decide(run(silent()), lost(), NOW)[-3].exit
    assert kinds(decide(run(silent(exit=kept)), lost(), NOW))[-2:] == [f.RevokeToken, f.Kill]


@pytest.mark.parametrize("state", [State.STARTING, State.RUNNING, State.PAUSED, State.STOPPING])
def test_it_is_given_up_in_every_state_in_which_something_may_run(state):
    assert f.Kill in kinds(decide(run(silent(state=state)), lost(), NOW))


def test_a_node_is_given_its_time():
    actions = decide(run(silent()), lost(LOST - timedelta(seconds=1)), NOW)
    assert f.Kill not in kinds(actions)


def test_a_trainer_that_is_heard_is_never_given_up():
    heard = attempt(has_handle=True, last_seen_at=ago(1))
    assert f.Kill not in kinds(decide(run(heard), lost(), NOW))


def test_what_was_noted_of_the_ranks_stays_beside_the_cause():
    ranks = {"1": {"exit_code": 1, "signal": None, "error": "peer gone"}}
    told = {"v": 1, "outcome": "failed", "ended_at": "x", "ranks": ranks, "message": "Rank 1"}
    kept = decide(run(silent(exit=told)), lost(), NOW)[-3].exit
    assert kept["ranks"] == ranks
    assert (kept["outcome"], kept["ended_at"]) == ("taken_away", "")


def test_a_stop_on_a_silent_node_shuts_out_what_may_live_on():
    stopping = silent(state=State.STOPPING, state_at=ago(600))
    assert kinds(decide(run(stopping), lost(timedelta(seconds=70)), NOW))[-2:] == [
        f.RevokeToken, f.Kill,
    ]  # fmt: skip


HELD = Observation(
    presence=Presence.PENDING, reason="Queue q: preempted.", is_suspended=True, handle={"uid": "u"}
)


def test_a_training_that_its_queue_took_back_is_ended_and_begins_as_another_attempt():
    actions = decide(run(attempt(has_handle=True)), HELD, NOW)
    assert kinds(actions)[-2:] == [f.KeepExit, f.Kill]
    assert actions[-2].exit["message"] == ("It was suspended while it trained. Queue q: preempted.")


@pytest.mark.parametrize("state", [State.SUBMITTING, State.WAITING, State.STARTING])
def test_what_never_trained_waits_for_its_queue(state):
    waiting = attempt(state=state, last_seen_at=None)
    assert f.Kill not in kinds(decide(run(waiting), HELD, NOW))
