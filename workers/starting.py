"""The part of deciding that brings a workload to life: submit, wait, follow its start."""

from datetime import datetime

from runs.states import Desired, Outcome, State
from workers import exit_records
from workers.facts import (
    AT_WORK,
    Action,
    AttemptFacts,
    End,
    Fence,
    KeepExit,
    Kill,
    Move,
    NoteReason,
    RunFacts,
    Submit,
)
from workers.launchers.base import Observation, Presence

# Of what waited for its turn; with the waits between them that takes about ten minutes.
_MOST_STARTS = 20


def not_started(
    run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime
) -> list[Action]:
    """Return what is done for an attempt of which there has been nothing yet."""
    if run.desired is not Desired.RUNNING:
        word = "stopped" if run.desired is Desired.STOPPED else "paused"
        return [Move(State.STOPPING, f"It was {word} before it started.")]
    if attempt.state is State.REQUESTED:
        return [Move(State.SUBMITTING), Submit()]
    trouble = attempt.trouble
    if seen.is_fenced:
        message = trouble.message if trouble else "Its name was closed before it started."
        return [End(Outcome.COULD_NOT_START, message)]
    if trouble is not None and trouble.is_final:
        return [Fence()]
    if trouble is not None and now - attempt.state_at >= run.limits.start_timeout:
        return [Fence()]
    return submit_again(attempt, now)


def submit_again(attempt: AttemptFacts, now: datetime) -> list[Action]:
    """Start it, unless the last try asked for more time; meanwhile tell what it met."""
    trouble = attempt.trouble
    if trouble is None or now >= trouble.retry_at:
        return [Submit()]
    return [NoteReason(trouble.message)] if trouble.message not in {"", attempt.reason} else []


def _its_turn(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    """Start what waited for its turn; what cannot be started then is told and taken out of the line."""
    trouble = attempt.trouble
    if trouble is not None and (trouble.is_final or trouble.num >= _MOST_STARTS):
        told = {"outcome": str(Outcome.COULD_NOT_START), "message": trouble.message}
        return [KeepExit(exit_records.cleaned(told)), Kill("It could not be started.")]
    if run.desired is Desired.PAUSED:  # it would stand in the way of all behind it
        return [Move(State.STOPPING, "It was paused before it started.")]
    return submit_again(attempt, now)


def before_running(seen: Observation) -> State:
    """Return the state of what is there and not heard yet."""
    return State.WAITING if seen.presence is Presence.PENDING else State.STARTING


def start_up(
    run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime
) -> list[Action]:
    """Follow a workload that waits or starts."""
    expected = before_running(seen)
    is_heard = attempt.last_seen_at is not None
    if attempt.state is State.WAITING and (expected is State.STARTING or is_heard):
        return [Move(State.STARTING)]
    if attempt.state is not expected and not is_heard:
        return [Move(expected, seen.reason)]
    if seen.is_due:
        return _its_turn(run, attempt, now)
    if attempt.state is State.WAITING:
        return [NoteReason(seen.reason)] if seen.reason not in {"", attempt.reason} else []
    if attempt.phase in AT_WORK or attempt.phase == "paused":
        return [Move(State.RUNNING)]
    if not is_heard and now - attempt.state_at >= run.limits.start_timeout:
        return [Move(State.RUNNING, "Its workload runs, but it never reported.")]
    return []
