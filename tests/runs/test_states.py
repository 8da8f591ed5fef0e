from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.states import MOVES, OPEN_STATES, AttemptFacts, Desired, Outcome, State, shown
from safehold.cli.run_reading import STATES

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def facts(**changes):
    values = {"number": 1, "state": State.RUNNING, "requested_at": NOW, "state_since": NOW}
    return AttemptFacts(**values | changes)


def test_every_open_state_can_end_and_the_end_is_final():
    assert all(State.ENDED in MOVES[state] for state in OPEN_STATES)
    assert MOVES[State.ENDED] == frozenset()


def test_nothing_moves_back_to_a_state_before_its_workload_existed():
    for state, targets in MOVES.items():
        assert State.REQUESTED not in targets
        assert state is State.REQUESTED or State.SUBMITTING not in targets


def test_a_run_without_an_attempt_is_a_draft_that_can_be_launched():
    view = shown(Desired.STOPPED, None)
    assert (view.word, view.acts, view.is_active) == ("draft", {"launch"}, False)


@pytest.mark.parametrize(
    ("outcome", "word", "can_resume"),
    [
        (Outcome.FINISHED, "finished", False),
        (Outcome.FAILED, "failed", True),
        (Outcome.LOST, "lost", True),
    ],
)
def test_an_ended_run_says_how_and_offers_what_makes_sense(outcome, word, can_resume):
    attempt = facts(state=State.ENDED, outcome=outcome, ended_at=NOW, reason="signal 9")
    view = shown(Desired.RUNNING, attempt)
    assert (view.word, view.why, view.is_active) == (word, "signal 9", False)
    assert ("resume" in view.acts) is can_resume


def test_a_pause_whose_devices_were_released_is_still_a_pause():
    attempt = facts(state=State.ENDED, outcome=Outcome.STOPPED, ended_at=NOW)
    view = shown(Desired.PAUSED, attempt)
    assert (view.word, "resume" in view.acts, view.is_active) == ("paused", True, False)


def test_a_silent_run_is_contact_lost_and_not_dead():
    since = NOW + timedelta(minutes=1)
    view = shown(Desired.RUNNING, facts(contact_lost_since=since))
    assert (view.word, view.since, view.is_active) == ("contact_lost", since, True)


@given(
    desired=st.sampled_from(Desired),
    state=st.sampled_from(State),
    outcome=st.sampled_from(Outcome),
    silent=st.booleans(),
)
def test_what_is_shown_never_contradicts_the_record(desired, state, outcome, silent):
    ended = state is State.ENDED
    attempt = facts(
        state=state,
        outcome=outcome if ended else None,
        ended_at=NOW if ended else None,
        contact_lost_since=NOW if silent else None,
    )
    view = shown(desired, attempt)
    assert view.is_active is not ended
    assert ("stop" in view.acts or "force_stop" in view.acts) is not ended
    assert ("resume" in view.acts) <= (ended or view.word == "paused")


def test_the_command_line_knows_every_word():
    of_open = {shown(Desired.RUNNING, facts(state=state)).word for state in OPEN_STATES}
    assert of_open | {*map(str, Outcome), "draft", "contact_lost"} == set(STATES)
