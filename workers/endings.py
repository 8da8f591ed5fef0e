"""How an attempt ended: from the wrapper's exit record, or from what was found instead of one."""

import re
import signal
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from runs.states import Outcome, State
from workers import exit_records
from workers.facts import AT_WORK, AttemptFacts, End

_MAX_MESSAGE_CHARACTERS = 2000
# How a launcher begins a message about a pod whose wrapper could not tell anything any more.
_POD = re.compile(r"Pod \S+ \(node rank -?\d+\)")
_WELL = frozenset({Outcome.FINISHED, Outcome.STOPPED})
# Signals by which we end a workload that does not stop by itself.
_OURS = frozenset({signal.SIGTERM, signal.SIGKILL})


def of_exit(attempt: AttemptFacts, exit: Mapping[str, Any], *, is_forced: bool) -> End:
    """Return the end of an attempt whose workload exited."""
    if not exit:
        return _without_record(attempt, is_forced=is_forced)
    if str(exit.get("outcome")) in _WELL and attempt.exit.get("outcome") == Outcome.STOPPED:
        # A Job counts pods that saved and stopped as successes, and may be complete before it hears that they were
        # taken away; they are gone then, and only what they sent tells it.
        exit = attempt.exit
    record = exit_records.cleaned(exit)
    outcome, reason = _judge(attempt, record, is_forced=is_forced)
    at = _time(record["ended_at"]) or attempt.last_seen_at
    return End(outcome, reason[:_MAX_MESSAGE_CHARACTERS], at=at, exit=record)


def of_absence(attempt: AttemptFacts, *, is_forced: bool = False) -> End:
    """Return the end of an attempt whose workload is nowhere and whose name is closed.

    What its wrapper sent before it went, or was seen of it then, tells more than its absence.
    """
    if attempt.exit:
        return of_exit(attempt, attempt.exit, is_forced=is_forced)
    if attempt.state is State.STOPPING:
        if not attempt.has_handle:
            return End(Outcome.STOPPED, "It was stopped before it started.")
        return End(
            Outcome.STOPPED, _unconfirmed(attempt, is_forced=is_forced), at=attempt.last_seen_at
        )
    return End(Outcome.LOST, "Its workload vanished without a trace.", at=attempt.last_seen_at)


def _unconfirmed(attempt: AttemptFacts, *, is_forced: bool) -> str:
    """Say how a stop ended of which nobody told that it saved."""
    if is_forced:
        return "It was stopped by force, without saving."
    if attempt.phase not in AT_WORK:
        return "It was stopped before it began to train."
    return "It was ended before it confirmed that it saved."


def _without_record(attempt: AttemptFacts, *, is_forced: bool) -> End:
    if attempt.state is State.STOPPING:
        reason = _unconfirmed(attempt, is_forced=is_forced)
        return End(Outcome.STOPPED, reason, at=attempt.last_seen_at)
    reason = "Its process wrapper ended without leaving an exit record; what was left was ended."
    return End(Outcome.LOST, reason, at=attempt.last_seen_at)


def _judge(
    attempt: AttemptFacts, exit: Mapping[str, Any], *, is_forced: bool
) -> tuple[Outcome, str]:
    told, message = exit["outcome"], exit["message"]
    is_stopping = attempt.state is State.STOPPING
    if told == Outcome.FINISHED:
        return Outcome.FINISHED, message or "It finished."
    if told == Outcome.COULD_NOT_START:
        return Outcome.COULD_NOT_START, message or "Its program could not be started."
    if is_stopping and told == Outcome.STOPPED:
        return Outcome.STOPPED, message or "It saved and stopped."
    if is_stopping and (is_forced or _was_ended_by_us(exit)):
        return Outcome.STOPPED, _unconfirmed(attempt, is_forced=is_forced)
    if is_stopping and told == Outcome.TAKEN_AWAY:
        unconfirmed = _unconfirmed(attempt, is_forced=is_forced)
        return Outcome.STOPPED, f"{unconfirmed} {message}".strip()
    if told == Outcome.TAKEN_AWAY:
        return Outcome.TAKEN_AWAY, message or "It was taken away."
    if exit["signal"]:
        return Outcome.TAKEN_AWAY, _taken_away(exit, message)
    if told == Outcome.STOPPED:
        return Outcome.STOPPED, message or "It stopped by itself."
    return Outcome.FAILED, _failure(exit, message)


def _was_ended_by_us(exit: Mapping[str, Any]) -> bool:
    """Whether the ranks died of what we send, or the wrapper was told to end while they were in the way of it."""
    signals = {rank["signal"] for rank in exit["ranks"].values() if rank["signal"]}
    return (bool(signals) or exit["signal"] in _OURS) and signals <= _OURS


def _taken_away(exit: Mapping[str, Any], message: str) -> str:
    return (
        f"Somebody outside sent {_signal_name(exit['signal'])} to the workload. {message}".strip()
    )


def _failure(exit: Mapping[str, Any], message: str) -> str:
    """Return a sentence that names the first rank at fault and its signal or exit code."""
    bad = {number: rank for number, rank in exit["ranks"].items() if _is_bad(rank)}
    if not bad or _POD.match(message):
        return message or "It failed without saying why."
    # The wrapper saw them end in time and names the first; the others only ended with it.
    named = re.match(r"Rank (\d+)\b", message)
    first = named[1] if named and named[1] in bad else min(bad, key=lambda key: _order(bad[key]))
    others = len(bad) - 1
    more = f" {others} other {'rank' if others == 1 else 'ranks'} ended with it." if others else ""
    return _cause(first, bad[first]) + more


def _order(rank: Mapping[str, Any]) -> int:
    """Signals are news, those by which torchrun ends the other ranks are not."""
    if rank["signal"]:
        return 2 if rank["signal"] == signal.SIGTERM else 0
    return 1


def _cause(number: str, rank: Mapping[str, Any]) -> str:
    if killer := rank["signal"]:
        return f"Rank {number} was ended by signal {killer} ({_signal_name(killer)})."
    lines = rank["error"].strip().splitlines()
    text = f"Rank {number} failed with exit code {rank['exit_code']}"
    return f"{text}: {lines[-1]}" if lines else f"{text}."


def _is_bad(rank: Mapping[str, Any]) -> bool:
    return bool(rank["signal"] or rank["exit_code"])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
