"""The end of an attempt as told from the wrapper's exit record."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.states import Outcome, State
from tests.workers.test_reconcile import attempt
from workers import endings

OK = {"exit_code": 0, "signal": None, "error": None}


def record(outcome: str = "failed", **changes: Any) -> dict[str, Any]:
    return {
        "v": 1, "outcome": outcome, "ranks": {"0": OK, "1": OK}, "signal": None, "message": "",
        "ended_at": "2026-01-01T11:00:00+00:00",
    } | changes  # fmt: skip


def rank(code: int | None = None, signal: int | None = None, error: str = "") -> dict[str, Any]:
    return {"exit_code": code, "signal": signal, "error": error}


def judged(exit: dict[str, Any], state: State = State.RUNNING, *, is_forced: bool = False):
    end = endings.of_exit(attempt(state), exit, is_forced=is_forced)
    return end.outcome, end.reason


def test_killed_rank_is_named_with_its_signal():
    exit = record(ranks={"0": rank(signal=15), "1": rank(signal=9)})

    assert judged(exit) == (
        Outcome.FAILED,
        "Rank 1 was ended by signal 9 (SIGKILL). 1 other rank ended with it.",
    )


def test_error_of_the_first_rank_to_fail_is_told():
    ranks = {"0": rank(signal=9), "3": rank(1, error="Traceback\nValueError: no data in /data")}
    exit = record(ranks=ranks, message="Rank 3 ended with exit code 1: ValueError")

    assert judged(exit) == (
        Outcome.FAILED,
        "Rank 3 failed with exit code 1: ValueError: no data in /data 1 other rank ended with it.",
    )


def test_a_stop_without_a_save_says_why_nothing_was_saved():
    killed = record(ranks={"0": rank(signal=9)}, message="Rank 0 ended with SIGKILL: no output")

    assert judged(killed, State.STOPPING, is_forced=True)[1] == (
        "It was stopped by force, without saving."
    )
    assert judged({}, State.STOPPING, is_forced=True)[1] == (
        "It was stopped by force, without saving."
    )
    for phase, words in (
        ("starting", "It was stopped before it began to train."),
        ("training", "It was ended before it confirmed that it saved."),
    ):
        early = attempt(State.STOPPING, phase=phase)
        assert endings.of_exit(early, killed, is_forced=False).reason == words


def test_end_is_when_the_wrapper_says():
    end = endings.of_exit(attempt(), record("finished"), is_forced=False)

    assert end.at == datetime(2026, 1, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "exit", "outcome"),
    [
        (State.STOPPING, record("stopped"), Outcome.STOPPED),
        (State.STOPPING, record("finished"), Outcome.FINISHED),
        (State.STOPPING, record(ranks={"0": rank(signal=9)}), Outcome.STOPPED),
        (State.STOPPING, record(ranks={"0": rank(1)}), Outcome.FAILED),
        (State.STOPPING, record("failed", signal=15, ranks={}), Outcome.STOPPED),
        (State.STOPPING, record("failed", signal=15, ranks={"0": rank(1)}), Outcome.STOPPED),
        (State.RUNNING, record("stopped"), Outcome.STOPPED),
        (State.RUNNING, record("stopped", signal=15), Outcome.TAKEN_AWAY),
        (State.RUNNING, record("failed", signal=15), Outcome.TAKEN_AWAY),
        (State.PAUSED, record("finished"), Outcome.FINISHED),
    ],
)
def test_outcome_depends_on_who_wanted_the_end(
    state: State, exit: dict[str, Any], outcome: Outcome
):
    assert judged(exit, state)[0] is outcome


def test_forced_end_is_a_stop_whatever_the_ranks_say():
    assert (
        judged(record(ranks={"0": rank(1)}), State.STOPPING, is_forced=True)[0] is Outcome.STOPPED
    )


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
shapes = st.fixed_dictionaries(
    {},
    optional={
        "outcome": values | st.sampled_from(["finished", "stopped", "failed"]),
        "ranks": values
        | st.dictionaries(
            st.text(),
            st.fixed_dictionaries(
                {}, optional={"signal": values, "exit_code": values, "error": values}
            ),
        ),
        "signal": values,
        "message": values,
        "ended_at": values,
    },
)


@given(exit=shapes, state=st.sampled_from([State.RUNNING, State.STOPPING]))
def test_no_record_of_any_shape_breaks_reconciliation(exit: dict[str, Any], state: State):
    end = endings.of_exit(attempt(state), exit, is_forced=False)

    assert end.reason
    stored = json.dumps([end.reason, end.exit]).encode()
    assert b"\\u0000" not in stored
    assert len(stored) < 200_000


def test_a_job_of_pods_that_saved_and_stopped_did_not_finish():
    """It is complete, since each of them ended without an error."""
    sent = record("stopped", signal=15, message="All ranks saved and stopped.")
    for seen in ("finished", "stopped"):
        end = endings.of_exit(attempt(exit=sent), record(seen), is_forced=False)
        assert end.outcome is Outcome.TAKEN_AWAY
        assert end.reason.startswith("Somebody outside sent SIGTERM")
    stopping = attempt(State.STOPPING, exit=sent)
    assert endings.of_exit(stopping, record("finished"), is_forced=False).outcome is Outcome.STOPPED
    finished = attempt(exit=record("finished"))
    assert (
        endings.of_exit(finished, record("finished"), is_forced=False).outcome is Outcome.FINISHED
    )
