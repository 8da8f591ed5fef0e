"""From the rows to the facts that `decide` judges."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from runs import states
from runs.models import Attempt, Command, Run
from workers import facts
from workers.models import Watch

_HOLDS = (Command.Kind.PAUSE, Command.Kind.RESUME)


@dataclass
class Loaded:
    """A run, its newest attempt, and the facts as they were read together."""

    run: Run
    attempt: Attempt | None
    watch: Watch | None
    facts: facts.RunFacts


def load(run_id: int) -> Loaded | None:
    """Read a run anew, in three queries; None where it is gone, or was never committed."""
    run = Run.objects.select_related("config", "watch").filter(pk=run_id).first()
    if run is None:
        return None
    attempt = run.attempts.first()
    watch = getattr(run, "watch", None)
    return Loaded(run, attempt, watch, facts_of(run, attempt, watch))


def facts_of(run: Run, attempt: Attempt | None, watch: Watch | None) -> facts.RunFacts:
    """Return what is known of a run and its newest attempt."""
    return facts.RunFacts(
        desired=states.Desired(run.desired),
        desired_at=run.desired_at,
        is_forced=run.is_forced,
        attempt=_attempt_facts(attempt, watch) if attempt else None,
        limits=limits(),
    )


def limits() -> facts.Limits:
    """Return how long to wait for what, by the settings."""
    return facts.Limits(
        stop_grace=timedelta(seconds=settings.SAFEHOLD_STOP_GRACE_SECONDS),
        pause_hold=timedelta(seconds=settings.SAFEHOLD_PAUSE_HOLD_SECONDS),
        contact_lost=timedelta(seconds=settings.SAFEHOLD_CONTACT_LOST_SECONDS),
        start_timeout=timedelta(seconds=settings.SAFEHOLD_START_TIMEOUT_SECONDS),
        node_lost=timedelta(seconds=settings.SAFEHOLD_NODE_LOST_SECONDS),
    )


def told_commands(attempt: Attempt) -> tuple[facts.CommandFacts | None, bool]:
    """Return the newest pause or resume of an attempt, and whether it was told to save and stop."""
    told = list(attempt.commands.exclude(kind=Command.Kind.SAVE).order_by("-pk"))
    hold = next((command for command in told if command.kind in _HOLDS), None)
    has_stop = any(command.kind == Command.Kind.SAVE_AND_STOP for command in told)
    return (_command_facts(hold) if hold else None), has_stop


def _command_facts(command: Command) -> facts.CommandFacts:
    return facts.CommandFacts(
        kind=command.kind,
        sent_at=command.created_at,
        result=command.result,
        message=command.message,
    )


def _attempt_facts(attempt: Attempt, watch: Watch | None) -> facts.AttemptFacts:
    hold_command, has_stop_command = (None, False) if attempt.is_over else told_commands(attempt)
    return facts.AttemptFacts(
        number=attempt.number,
        state=states.State(attempt.state),
        state_at=attempt.state_at,
        requested_at=attempt.requested_at,
        outcome=states.Outcome(attempt.outcome) if attempt.outcome else None,
        reason=attempt.reason,
        has_handle=bool(attempt.handle),
        where=attempt.where,
        last_seen_at=attempt.last_seen_at,
        contact_lost_since=attempt.contact_lost_since,
        paused_at=attempt.paused_at,
        stop_sent_at=attempt.stop_sent_at,
        phase=attempt.phase,
        hold_command=hold_command,
        has_stop_command=has_stop_command,
        exit=attempt.exit,
        trouble=_trouble(attempt, watch),
    )


def _trouble(attempt: Attempt, watch: Watch | None) -> facts.LaunchTrouble | None:
    if watch is None or watch.launch_attempt != attempt.number or not watch.launch_retry_at:
        return None
    return facts.LaunchTrouble(
        message=watch.launch_error,
        retry_at=watch.launch_retry_at,
        is_final=watch.is_launch_final,
        num=watch.num_launches,
    )
