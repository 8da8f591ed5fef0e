"""The part of deciding that gives an attempt up because its cluster took it away, or lost the node under it.

Every restart is an attempt of its own. So what a queue took back is not waited for, and what nobody can see any more
is ended unconfirmed after a while, with its token revoked: it may still write, and then it writes for itself alone.
"""

from datetime import datetime, timedelta

from runs.states import Outcome, State
from workers import exit_records
from workers.facts import Action, AttemptFacts, KeepExit, Kill, RevokeToken, RunFacts
from workers.launchers.base import Observation

_BEGUN = frozenset({State.STARTING, State.RUNNING, State.PAUSING, State.PAUSED})


def given_up(
    run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime
) -> list[Action]:
    """Return what gives the attempt up; empty while it is not to be."""
    if _is_lost(run, attempt, seen, now):
        waited = _seconds(run.limits.node_lost)
        message = f"Its node did not answer for {waited} and was given up."
        return [*_keep(attempt, message), RevokeToken(), Kill(message)]
    if seen.is_suspended and attempt.state in _BEGUN and attempt.last_seen_at is not None:
        message = f"It was suspended while it trained. {seen.reason}"
        return [*_keep(attempt, message), Kill("A later start would begin in the middle of it.")]
    return []


def kill(seen: Observation, reason: str) -> list[Action]:
    """Return what ends a workload; what may live on under a silent node is shut out first."""
    return [RevokeToken(), Kill(reason)] if seen.lost_since else [Kill(reason)]


def _is_lost(run: RunFacts, attempt: AttemptFacts, seen: Observation, now: datetime) -> bool:
    """Whether its node is silent to the cluster and its trainer to us, the first for long enough."""
    if seen.lost_since is None or now - seen.lost_since < run.limits.node_lost:
        return False
    heard_at = attempt.last_seen_at
    return heard_at is None or now - heard_at > run.limits.contact_lost


def _keep(attempt: AttemptFacts, message: str) -> list[Action]:
    """Keep why, beside what the ranks told; what was kept once stays, or every look would write."""
    if attempt.exit.get("outcome") == Outcome.TAKEN_AWAY:
        return []
    # It ended with its last sign of life, not when the peers of a lost node noticed.
    told = {**attempt.exit, "outcome": str(Outcome.TAKEN_AWAY), "message": message, "ended_at": ""}
    return [KeepExit(exit_records.cleaned(told))]


def _seconds(time: timedelta) -> str:
    return f"{time.total_seconds():.0f} s"
