"""How an attempt ended: from the wrapper's exit record, or from what was found instead of one.

The record was written beside the trainer, so nothing in it is trusted to have a shape.
"""

import re
import signal
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from runs.states import Outcome, State
from workers.facts import AttemptFacts, End

_MAX_MESSAGE_CHARACTERS = 2000
# Signals by which we end a workload that does not stop by itself.
_OURS = frozenset({signal.SIGTERM, signal.SIGKILL})


def of_exit(attempt: AttemptFacts, exit: Mapping[str, Any], *, is_forced: bool) -> End:
    """Return the end of an attempt whose workload exited."""
    if not exit:
        return _without_record(attempt)
    outcome, reason = _judge(attempt, exit, is_forced=is_forced)
    at = _time(exit.get("ended_at")) or attempt.last_seen_at
    return End(outcome, reason[:_MAX_MESSAGE_CHARACTERS], at=at, exit=exit)


def of_absence(attempt: AttemptFacts) -> End:
    """Return the end of an attempt whose workload is nowhere and whose name is closed."""
    if attempt.state is State.STOPPING:
        if not attempt.has_handle:
            return End(Outcome.STOPPED, "It was stopped before it started.")
        return End(
            Outcome.STOPPED,
            "Its workload was gone before it confirmed that it saved.",
            at=attempt.last_seen_at,
        )
    return End(Outcome.LOST, "Its workload vanished without a trace.", at=attempt.last_seen_at)


def _without_record(attempt: AttemptFacts) -> End:
    if attempt.state is State.STOPPING:
        reason = "It was ended before it confirmed that it saved."
        return End(Outcome.STOPPED, reason, at=attempt.last_seen_at)
    reason = "Its process wrapper ended without leaving an exit record; what was left was ended."
    return End(Outcome.LOST, reason, at=attempt.last_seen_at)


def _judge(
    attempt: AttemptFacts, exit: Mapping[str, Any], *, is_forced: bool
) -> tuple[Outcome, str]:
    told, message = exit.get("outcome"), _text(exit.get("message"))
    is_stopping = attempt.state is State.STOPPING
    if told == Outcome.FINISHED:
        return Outcome.FINISHED, message or "It finished."
    if told == Outcome.COULD_NOT_START:
        return Outcome.COULD_NOT_START, message or "Its program could not be started."
    if is_stopping and (is_forced or told == Outcome.STOPPED):
        return Outcome.STOPPED, message or "It saved and stopped."
    if is_stopping and _was_ended_by_us(exit):
        return Outcome.STOPPED, "It was ended before it confirmed that it saved."
    if _signal_of_wrapper(exit) is not None:
        return Outcome.TAKEN_AWAY, _taken_away(exit, message)
    if told == Outcome.STOPPED:
        return Outcome.STOPPED, message or "It stopped by itself."
    return Outcome.FAILED, _failure(exit, message)


def _was_ended_by_us(exit: Mapping[str, Any]) -> bool:
    signals = {rank.get("signal") for _, rank in _ranks(exit) if rank.get("signal")}
    return bool(signals) and signals <= _OURS


def _signal_of_wrapper(exit: Mapping[str, Any]) -> int | None:
    number = exit.get("signal")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _taken_away(exit: Mapping[str, Any], message: str) -> str:
    name = _signal_name(_signal_of_wrapper(exit) or 0)
    return f"Somebody outside sent {name} to the workload. {message}".strip()


def _failure(exit: Mapping[str, Any], message: str) -> str:
    """Return a sentence that names the first rank at fault and its signal or exit code."""
    bad = {number: rank for number, rank in _ranks(exit) if _is_bad(rank)}
    if not bad:
        return message or "It failed without saying why."
    # The wrapper saw them end in time and names the first; the others only ended with it.
    named = re.match(r"Rank (\d+)\b", message)
    first = named[1] if named and named[1] in bad else min(bad, key=lambda key: _order(bad[key]))
    others = len(bad) - 1
    more = f" {others} other {'rank' if others == 1 else 'ranks'} ended with it." if others else ""
    return _cause(first, bad[first]) + more


def _order(rank: Mapping[str, Any]) -> int:
    """Signals are news, those by which torchrun ends the other ranks are not."""
    if rank.get("signal"):
        return 2 if rank["signal"] == signal.SIGTERM else 0
    return 1


def _cause(number: str, rank: Mapping[str, Any]) -> str:
    if killer := rank.get("signal"):
        return f"Rank {number} was ended by signal {killer} ({_signal_name(killer)})."
    error = _last_line(rank.get("error"))
    text = f"Rank {number} failed with exit code {rank.get('exit_code')}"
    return f"{text}: {error}" if error else f"{text}."


def _is_bad(rank: Mapping[str, Any]) -> bool:
    return bool(rank.get("signal")) or bool(rank.get("exit_code"))


def _ranks(exit: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    ranks = exit.get("ranks")
    if not isinstance(ranks, Mapping):
        return []
    pairs = [(str(key), rank) for key, rank in ranks.items() if isinstance(rank, Mapping)]
    return sorted(pairs, key=lambda pair: (len(pair[0]), pair[0]))


def _signal_name(number: object) -> str:
    try:
        return signal.Signals(int(str(number))).name
    except ValueError:
        return f"signal {number}"


def _last_line(text: object) -> str:
    lines = _text(text).strip().splitlines()
    return lines[-1] if lines else ""


def _text(value: object) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
