"""The states of an attempt, the moves allowed between them, and what a page says about a run.

Pure: no database, no Django models, so that every reader (page, API, reconciliation, tests) uses the same.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    """Where an attempt is, from its request to its end."""

    REQUESTED = "requested"
    SUBMITTING = "submitting"
    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    ENDED = "ended"


class Outcome(StrEnum):
    """How an attempt ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    TAKEN_AWAY = "taken_away"
    COULD_NOT_START = "could_not_start"
    LOST = "lost"


class Desired(StrEnum):
    """What a person wants of a run."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


_BEFORE_RUNNING = {State.WAITING, State.STARTING, State.RUNNING, State.STOPPING, State.ENDED}
MOVES: dict[State, frozenset[State]] = {
    State.REQUESTED: frozenset({State.SUBMITTING, State.STOPPING, State.ENDED}),
    State.SUBMITTING: frozenset(_BEFORE_RUNNING),
    State.WAITING: frozenset({State.STARTING, State.RUNNING, State.STOPPING, State.ENDED}),
    State.STARTING: frozenset({State.WAITING, State.RUNNING, State.STOPPING, State.ENDED}),
    State.RUNNING: frozenset({State.PAUSING, State.PAUSED, State.STOPPING, State.ENDED}),
    State.PAUSING: frozenset({State.PAUSED, State.RUNNING, State.STOPPING, State.ENDED}),
    State.PAUSED: frozenset({State.RUNNING, State.STOPPING, State.ENDED}),
    State.STOPPING: frozenset({State.ENDED}),
    State.ENDED: frozenset(),
}
OPEN_STATES = frozenset(State) - {State.ENDED}
# The trainer exists (or may exist) in these: it can be sent a command.
LIVE_STATES = frozenset(
    {State.WAITING, State.STARTING, State.RUNNING, State.PAUSING, State.PAUSED, State.STOPPING}
)


def is_next_due(
    *, desired: Desired, desired_at: datetime | None, stopped_at: datetime | None, outcome: Outcome | None
) -> bool:  # fmt: skip
    """Whether a person asked for a resume that could not be answered while the attempt, which has ended, was stopping.

    Recovery without a person asking belongs here too, once there is a policy for it.
    """
    if desired is not Desired.RUNNING or outcome is Outcome.FINISHED:
        return False
    return desired_at is not None and stopped_at is not None and desired_at > stopped_at


@dataclass(frozen=True, kw_only=True)
class AttemptFacts:
    """What is recorded of the newest attempt, as far as the shown state depends on it."""

    number: int
    state: State
    outcome: Outcome | None = None
    reason: str = ""
    requested_at: datetime | None = None
    state_since: datetime | None = None
    ended_at: datetime | None = None
    last_seen_at: datetime | None = None
    contact_lost_since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a person reads about a run.

    Attributes:
        word: One word of the closed list below; pages translate it and choose the shape by it.
        since: When it became so.
        why: One sentence, may be empty.
        acts: What may be asked for now.
        is_active: Whether it holds devices or soon will; the duration of others has ended.
    """

    word: str
    since: datetime | None
    why: str
    acts: frozenset[str]
    is_active: bool


# draft, queued, starting, running, pausing, paused, stopping, contact_lost, finished, stopped, failed,
# taken_away, could_not_start, lost
# Begins the reason of an attempt in trouble that only its launcher sees, as of a node that does not answer.
OUTSIDE = "As seen from outside: "
_ACTIVE_WORDS = {
    State.REQUESTED: "queued",
    State.SUBMITTING: "queued",
    State.WAITING: "queued",
    State.STARTING: "starting",
    State.RUNNING: "running",
    State.PAUSING: "pausing",
    State.PAUSED: "paused",
    State.STOPPING: "stopping",
}
_ACTIVE_ACTS = {
    "queued": {"stop", "force_stop"},
    "starting": {"stop", "force_stop"},
    "running": {"save", "pause", "stop", "force_stop"},
    "pausing": {"stop", "force_stop"},
    "paused": {"resume", "stop", "force_stop"},
    "stopping": {"force_stop"},
    "contact_lost": {"stop", "force_stop"},
}


def shown(desired: Desired, attempt: AttemptFacts | None) -> Shown:
    """Return what every page, list and answer says about a run: one function, so they never disagree."""
    if attempt is None:
        return Shown(
            word="draft", since=None, why="It was never launched.",
            acts=frozenset({"launch"}), is_active=False,
        )  # fmt: skip
    if attempt.state is State.ENDED:
        return _shown_ended(desired, attempt)
    word = _ACTIVE_WORDS[attempt.state]
    since = attempt.state_since or attempt.requested_at
    why = attempt.reason
    if attempt.contact_lost_since and word in {"running", "pausing", "paused", "stopping"}:
        word, since = "contact_lost", attempt.contact_lost_since
        trouble = f" {why}" if why.startswith(OUTSIDE) else ""
        why = f"Nothing was heard from the training process; it may still be running.{trouble}"
    return Shown(
        word=word, since=since, why=why, acts=frozenset(_ACTIVE_ACTS[word]), is_active=True
    )


def _shown_ended(desired: Desired, attempt: AttemptFacts) -> Shown:
    outcome = attempt.outcome or Outcome.LOST
    is_held = desired is Desired.PAUSED and outcome is Outcome.STOPPED
    acts = {"fork"} if outcome is Outcome.FINISHED else {"resume", "fork"}
    return Shown(
        word="paused" if is_held else str(outcome),
        since=attempt.ended_at,
        why=attempt.reason,
        acts=frozenset(acts),
        is_active=False,
    )
