"""The part of deciding that holds a training and lets it go on: pause, resume, and who paused it.

A wish travels as a command and comes back as the phase of a heartbeat; in between only the newest pause
or resume counts, and only for the state in which it was sent.
"""

from datetime import datetime

from runs.states import Desired, State
from workers.facts import (
    AT_WORK,
    Action,
    AttemptFacts,
    KeepPaused,
    Move,
    RunFacts,
    SendCommand,
)


def follow(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    """Bring a trainer that works or holds nearer to what is wanted, by what its heartbeat says."""
    if attempt.state is State.RUNNING:
        return _while_running(run, attempt, now)
    if attempt.state is State.PAUSING:
        return _while_pausing(run, attempt, now)
    if attempt.state is State.PAUSED:
        return _while_paused(run, attempt, now)
    if attempt.state is State.STARTING and attempt.phase in AT_WORK:
        return [Move(State.RUNNING)]
    return []


def _while_running(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    # Also when it is wanted running again by now: only the pausing state knows how to call it back.
    if _is_under_way("pause", attempt):
        return [Move(State.PAUSING)]
    if attempt.phase == "paused":
        return [Move(State.PAUSED)]
    if run.desired is Desired.PAUSED:
        return _hold_command("pause", run, attempt, now)
    return []


def _while_pausing(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    last = attempt.hold_command
    if run.desired is Desired.PAUSED:
        if attempt.phase == "paused":
            return [Move(State.PAUSED)]
        if last is not None and last.kind == "pause" and last.result == "refused":
            return [Move(State.RUNNING, f"The trainer refused to pause: {last.message}")]
        return [] if last is not None and last.kind == "pause" else [SendCommand("pause")]
    if last is None or last.kind != "resume":
        return [SendCommand("resume")]
    return [Move(State.RUNNING)] if last.result and attempt.phase in AT_WORK else []


def _while_paused(run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    if attempt.phase in AT_WORK:
        return [Move(State.RUNNING)]
    if run.desired is not Desired.RUNNING or _is_under_way("resume", attempt):
        return []
    if _paused_itself(run, attempt):
        # A report of the pause that a resume has just ended looks the same: wait for the next one.
        is_sure = now - attempt.state_at > run.limits.contact_lost
        return [KeepPaused()] if is_sure else []
    return _hold_command("resume", run, attempt, now)


def _paused_itself(run: RunFacts, attempt: AttemptFacts) -> bool:
    """Whether the trainer, not a person, wanted the pause: none was sent, and nobody resumed since."""
    last = attempt.hold_command
    is_ours = last is not None and last.kind == "pause"
    is_resumed = run.desired_at is not None and run.desired_at > attempt.state_at
    return not is_ours and not is_resumed


def _hold_command(kind: str, run: RunFacts, attempt: AttemptFacts, now: datetime) -> list[Action]:
    """Return the command unless it is under way, or was refused a moment ago."""
    last = attempt.hold_command
    if last is not None and last.kind == kind:
        if _is_under_way(kind, attempt):
            return []
        if last.result == "refused" and now - last.sent_at < run.limits.retry_command:
            return []
    return [SendCommand(kind)]


def _is_under_way(kind: str, attempt: AttemptFacts) -> bool:
    """Whether the newest command is this one and belongs to the state the attempt is in now."""
    last = attempt.hold_command
    if last is None or last.kind != kind or last.result == "refused":
        return False
    return not last.result or last.sent_at >= attempt.state_at
