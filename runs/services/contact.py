"""Whether an attempt is heard: not seeing it is a flag beside its state, never its end."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from runs import states
from runs.models import Attempt
from runs.services import attempts, events

# What the trainer says it does, and the state that follows; phases that say nothing new are left out.
_BEGINNING = {states.State.SUBMITTING, states.State.WAITING, states.State.STARTING}
_FOLLOWS: dict[str, tuple[frozenset[states.State], states.State]] = {
    "starting": (frozenset(_BEGINNING - {states.State.STARTING}), states.State.STARTING),
    "training": (frozenset(_BEGINNING | {states.State.PAUSED}), states.State.RUNNING),
    "saving": (frozenset(_BEGINNING), states.State.RUNNING),
    "evaluating": (frozenset(_BEGINNING), states.State.RUNNING),
    "finishing": (frozenset(_BEGINNING), states.State.RUNNING),
    "finished": (frozenset(_BEGINNING), states.State.RUNNING),
    "paused": (frozenset({states.State.RUNNING, states.State.PAUSING}), states.State.PAUSED),
}


def state_after(state: states.State, phase: str) -> states.State | None:
    """Return the state that a phase leads to from `state`, or None where it changes nothing.

    Only forwards: a trainer that still trains does not undo `pausing` or `stopping`, and none revives an end.
    """
    sources, target = _FOLLOWS.get(phase, (frozenset(), state))
    return target if state in sources else None


@transaction.atomic
def follow_phase(*, attempt: Attempt, phase: str) -> bool:
    """Move the attempt to where its trainer says it is; return whether it moved.

    Args:
        attempt: Locked or freshly read by the caller.
        phase: A phase of `safehold.wire`.
    """
    target = state_after(states.State(attempt.state), phase)
    if target is None:
        return False
    attempts.move_attempt(attempt=attempt, to=target, reason=_reason(target))
    return True


@transaction.atomic
def contact_lost(*, attempt: Attempt, since: datetime | None = None) -> bool:
    """Note that nothing is heard of an open attempt since then; return whether that is news."""
    moment = since or attempt.last_seen_at or timezone.now()
    open_ones = Attempt.objects.filter(pk=attempt.pk, contact_lost_since__isnull=True)
    if not open_ones.exclude(state=states.State.ENDED).update(contact_lost_since=moment):
        return False
    attempt.contact_lost_since = moment
    events.record(
        run=attempt.run, attempt=attempt, kind="contact_lost",
        message="Nothing is heard from the training process; it may still be running.",
        data={"since": moment.isoformat()},
    )  # fmt: skip
    return True


@transaction.atomic
def contact_regained(*, attempt: Attempt) -> bool:
    """Note that an open attempt is heard again; return whether that is news."""
    silent = Attempt.objects.filter(pk=attempt.pk, contact_lost_since__isnull=False)
    if not silent.exclude(state=states.State.ENDED).update(contact_lost_since=None):
        return False
    attempt.contact_lost_since = None
    events.record(
        run=attempt.run, attempt=attempt, kind="contact_regained",
        message="The training process is heard again.",
    )  # fmt: skip
    return True


def _reason(target: states.State) -> str:
    return {
        states.State.STARTING: "The training process has started.",
        states.State.RUNNING: "Its ranks train and report.",
        states.State.PAUSED: "It has saved, waits and holds its devices.",
    }[target]
