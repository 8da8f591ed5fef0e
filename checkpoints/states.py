"""The states of a checkpoint and the moves allowed between them.

Pure: no database, no Django models, so that services, pages and tests use the same table.
"""

from enum import StrEnum


class State(StrEnum):
    """What is known of a checkpoint."""

    WRITING = "writing"
    COMPLETE = "complete"
    VERIFIED = "verified"
    STABLE = "stable"
    DAMAGED = "damaged"
    FAILED = "failed"
    DELETING = "deleting"
    DELETED = "deleted"


# A failed save may be tried again under the same path; a damaged one may prove whole once its volume
# answers again, but only a new verification says so.
MOVES: dict[State, frozenset[State]] = {
    State.WRITING: frozenset({State.COMPLETE, State.FAILED}),
    State.FAILED: frozenset({State.WRITING, State.COMPLETE}),
    State.COMPLETE: frozenset({State.VERIFIED, State.DAMAGED}),
    State.VERIFIED: frozenset({State.STABLE, State.DAMAGED}),
    State.STABLE: frozenset({State.DAMAGED}),
    State.DAMAGED: frozenset({State.VERIFIED}),
    State.DELETING: frozenset({State.DELETED}),
    State.DELETED: frozenset(),
}
# Recovery may begin from these and from no other.
USABLE = frozenset({State.VERIFIED, State.STABLE})
# A run stopped by a person may go on from its last save before the proof is done: the trainer checks
# every digest again when it loads. Recovery after a failure waits for the proof.
MAY_BEGIN = USABLE | {State.COMPLETE}
# All bytes are on stable storage: there is something to verify.
SAVED = frozenset({State.COMPLETE, State.VERIFIED, State.STABLE, State.DAMAGED})
# What the writer may still tell; after these only a verification has a say.
UNDER_WRITER = frozenset({State.WRITING, State.FAILED})


def may_move(old: State, new: State) -> bool:
    """Say whether the table has this move."""
    return new in MOVES[old]


def after_verification(old: State, *, is_whole: bool) -> State:
    """Return the state that a finished verification leads to; it may be the old one."""
    if not is_whole:
        return State.DAMAGED
    return old if old in USABLE else State.VERIFIED
