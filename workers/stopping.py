"""The part of deciding that ends a workload which a person wants ended, or which held its devices for too long."""

from datetime import datetime

from runs.states import Desired, State
from workers import taken
from workers.facts import Action, AskStop, AttemptFacts, RunFacts, SendCommand
from workers.launchers.base import Observation


def is_late(run: RunFacts, attempt: AttemptFacts, now: datetime) -> bool:
    """Whether a stop takes longer than it may."""
    grace = run.limits.stop_grace + run.limits.kill_grace
    return attempt.state is State.STOPPING and now - attempt.state_at > grace


def why_stop(run: RunFacts, attempt: AttemptFacts, now: datetime) -> str:
    """Return why the attempt has to stop, or an empty text."""
    if run.desired is Desired.STOPPED:
        return "It was stopped by force." if run.is_forced else "It was asked to save and stop."
    is_held = attempt.state is State.PAUSED and run.desired is Desired.PAUSED
    if is_held and attempt.paused_at and now - attempt.paused_at >= run.limits.pause_hold:
        return "It was paused for so long that its devices were released."
    return ""


def stop(run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime) -> list[Action]:
    """Escalate: command, then the launcher's stop, then kill; each by the time since the stop began."""
    if run.is_forced and run.desired is Desired.STOPPED:
        return taken.kill(seen, "It was stopped by force.")
    limits, elapsed = run.limits, now - attempt.state_at
    if elapsed >= limits.stop_grace + limits.kill_grace:
        return taken.kill(seen, "It did not stop within the grace period.")
    actions = stop_command(run, attempt)
    # A signal needs no network, so who is not heard gets it at once and has the whole grace to save.
    is_deaf = attempt.last_seen_at is None or now - attempt.last_seen_at > limits.contact_lost
    if is_deaf or elapsed >= limits.stop_grace:
        left = limits.stop_grace + limits.kill_grace - elapsed
        actions.append(AskStop(int(left.total_seconds())))
    return actions


def stop_command(run: RunFacts, attempt: AttemptFacts) -> list[Action]:
    """Tell the trainer once to save and stop, by its next heartbeat."""
    return [] if attempt.has_stop_command or run.is_forced else [SendCommand("save_and_stop")]
