"""The one place that decides what happens to a run.

Pure: facts in, actions out. Whoever calls it looks first, carries the actions out, and may die between
any two lines; so every rule reads the level of things, never an edge, and is safe to be applied again.
docs/explanation/reconciliation.md tells the rules and the bound that the tests hold it to.
"""

from datetime import datetime

from runs.states import LIVE_STATES, OUTSIDE, Desired, State, is_next_due
from workers import endings, exit_records, holding, starting, stopping, taken
from workers.facts import (
    Action,
    AttemptFacts,
    Fence,
    KeepExit,
    Kill,
    Move,
    NoteContactLost,
    NoteContactRegained,
    NoteReason,
    RecordHandle,
    RequestNextAttempt,
    RunFacts,
    Settle,
)
from workers.launchers.base import Observation, Presence

_RUNNING = frozenset({State.STARTING, State.RUNNING, State.PAUSING, State.PAUSED})
_NEVER_SUBMITTED = frozenset({State.REQUESTED, State.SUBMITTING})


def decide(run: RunFacts, seen: Observation, now: datetime) -> list[Action]:
    """Return what is to be done next, in this order; an empty list means wait.

    Args:
        run: What is recorded and wanted.
        seen: One look at the workload of its newest attempt.
        now: The clock of the caller.
    """
    attempt = run.attempt
    if attempt is None:
        return [_first_attempt(run)]
    if attempt.state is State.ENDED:
        return _after_the_end(run, attempt, seen)
    if seen.presence is Presence.UNREACHABLE:
        return _unseen(run, attempt, seen, now)
    if seen.num_survivors and seen.presence in {Presence.EXITED, Presence.ABSENT}:
        return _clear(attempt, seen)
    if seen.is_gone:
        return _gone(run, attempt, seen, now)
    return _alive(run, attempt, seen, now)


def _first_attempt(run: RunFacts) -> Action:
    if run.desired is Desired.RUNNING:
        return RequestNextAttempt("The run was launched.")
    return Settle()


def _after_the_end(run: RunFacts, attempt: AttemptFacts, seen: Observation) -> list[Action]:
    if seen.is_alive:
        return [Kill("The attempt had ended.")]
    if seen.presence is Presence.UNREACHABLE:
        # A next attempt beside one that may live is the one thing that must never be.
        return []
    if _is_next_due(run, attempt):
        return [RequestNextAttempt("Resume was asked for while the attempt was stopping.")]
    return [Settle()]


def _is_next_due(run: RunFacts, attempt: AttemptFacts) -> bool:
    return is_next_due(
        desired=run.desired,
        desired_at=run.desired_at,
        stopped_at=attempt.stop_sent_at,
        outcome=attempt.outcome,
    )


def _unseen(run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime) -> list[Action]:
    """Nothing is started, ended or killed on a look that failed; commands and heartbeats still travel."""
    if attempt.state not in LIVE_STATES:
        return [NoteReason(seen.reason)] if seen.reason not in {"", attempt.reason} else []
    contact = _contact(run, attempt, now)
    if attempt.state is State.STOPPING:
        return contact + stopping.stop_command(run, attempt)
    if reason := stopping.why_stop(run, attempt, now):
        return [*contact, Move(State.STOPPING, reason)]
    return contact + holding.follow(run, attempt, now)


def _clear(attempt: AttemptFacts, seen: Observation) -> list[Action]:
    """End what outlived its workload, or will never become one; keep what is known of the end before."""
    kill = Kill(seen.reason or "Its process wrapper was gone.")
    is_news = bool(seen.exit) and exit_records.cleaned(seen.exit or {}) != attempt.exit
    return [KeepExit(exit_records.cleaned(seen.exit or {})), kill] if is_news else [kill]


def _was_there(attempt: AttemptFacts) -> bool:
    """Whether a workload is known to have run, so that its name must not be used again."""
    return attempt.has_handle or attempt.last_seen_at is not None or bool(attempt.exit)


def _gone(run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime) -> list[Action]:
    if seen.presence is Presence.EXITED:
        return [endings.of_exit(attempt, seen.exit or attempt.exit, is_forced=run.is_forced)]
    if attempt.state in _NEVER_SUBMITTED and not _was_there(attempt):
        return starting.not_started(run, attempt, seen, now)
    # A start that was delayed on its way must find the name closed, or it would outlive the attempt.
    if not seen.is_fenced:
        return [Fence()]
    return [endings.of_absence(attempt, is_forced=run.is_forced)]


def _alive(run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime) -> list[Action]:
    if attempt.state is State.REQUESTED:
        return [Move(State.SUBMITTING)]
    if attempt.state is State.SUBMITTING:
        if not seen.handle and not attempt.has_handle:
            # Somebody is about to start it, and may die before: a start adopts it, or is the first.
            return starting.submit_again(attempt, now)
        return [RecordHandle(), Move(starting.before_running(seen), seen.reason)]
    contact = _contact(run, attempt, now)
    if not attempt.has_handle or seen.where not in {"", attempt.where}:
        contact = [RecordHandle(), *contact]
    contact += _trouble_outside(attempt, seen, is_late=stopping.is_late(run, attempt, now))
    if lost := taken.given_up(run, attempt, seen, now):
        return contact + lost
    if attempt.state is State.STOPPING:
        return contact + stopping.stop(run, attempt, seen, now)
    if reason := stopping.why_stop(run, attempt, now):
        return [*contact, Move(State.STOPPING, reason)]
    if attempt.state in {State.WAITING, State.STARTING}:
        return contact + starting.start_up(run, attempt, seen, now)
    return contact + holding.follow(run, attempt, now)


def _trouble_outside(attempt: AttemptFacts, seen: Observation, *, is_late: bool) -> list[Action]:
    """Tell what the launcher sees of a workload that runs, as a node that does not answer, while it is so.

    Of one that is being stopped it is told once the grace is over: which pods are left, and why.
    """
    if attempt.state not in _RUNNING and not is_late:
        return []
    is_told = attempt.reason.startswith(OUTSIDE)
    if not seen.reason or seen.presence is not Presence.RUNNING:
        return [NoteReason("")] if is_told else []
    reason = f"{OUTSIDE}{seen.reason}"
    return [NoteReason(reason)] if reason != attempt.reason else []


def _contact(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    last = attempt.last_seen_at
    if last is None:
        return []
    is_lost = now - last > run.limits.contact_lost
    if is_lost and attempt.contact_lost_since is None:
        return [NoteContactLost(last)]
    if not is_lost and attempt.contact_lost_since is not None:
        return [NoteContactRegained()]
    return []
