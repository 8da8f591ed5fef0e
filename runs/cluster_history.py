"""What a cluster has shown so far: how often it takes a run away, how long restarts and saves take (PLAN-5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import F
from django.utils import timezone

from runs import states
from runs.models import Attempt, Event
from runs.services.launcher_choice import KUBERNETES, LOCAL
from safehold.planning.failures import learned_rate
from safehold.planning.forecast import ClusterHistory

# Ends that are the cluster's doing. A program that failed says nothing of the machines; until a diagnosis names the
# hardware, its ends do not count.
_INTERRUPTED = (states.Outcome.LOST, states.Outcome.TAKEN_AWAY)
# The newest so many: what a cluster was like a year ago is of little use.
_ATTEMPTS = 2000
_EVENTS_OF_ATTEMPTS = 20
_LONGEST_RESTART = timedelta(hours=6)  # beyond it somebody slept, and the machines are not to blame


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """One attempt as far as its times tell of the cluster."""

    run_id: int
    number: int
    outcome: str
    nodes: int
    started_at: datetime | None
    first_step_at: datetime | None
    ended_at: datetime | None


def history_of(cluster: str) -> ClusterHistory | None:
    """Return what is known of a cluster, `local` or `kubernetes:NAME` in short; None where none is named."""
    if not cluster:
        return None
    launcher = cluster if cluster == LOCAL or ":" in cluster else f"{KUBERNETES}:{cluster}"
    stretches = _stretches(launcher)
    num_failures, node_days = watched(stretches, now=timezone.now())
    return ClusterHistory(
        name=cluster,
        rate=learned_rate(num_failures=num_failures, node_days=node_days),
        restart_seconds=_middle(restarts(stretches)),
        save_seconds=_middle(_saves(launcher)),
    )


def watched(stretches: Iterable[Stretch], *, now: datetime) -> tuple[int, float]:
    """Return how many attempts the cluster interrupted, and the node-days in which it could."""
    num_failures, node_seconds = 0, 0.0
    for one in stretches:
        if one.started_at is None:
            continue
        seconds = ((one.ended_at or now) - one.started_at).total_seconds()
        node_seconds += max(0.0, seconds) * one.nodes
        num_failures += one.outcome in _INTERRUPTED
    return num_failures, node_seconds / 86_400


def restarts(stretches: Sequence[Stretch]) -> list[float]:
    """Return the seconds from each end that nobody wanted to the first step of the next attempt."""
    ends = {
        (one.run_id, one.number): one.ended_at
        for one in stretches
        if one.ended_at and one.outcome in {*_INTERRUPTED, states.Outcome.FAILED}
    }
    found = []
    for one in stretches:
        ended_at = ends.get((one.run_id, one.number - 1))
        if ended_at and one.first_step_at and one.first_step_at - ended_at <= _LONGEST_RESTART:
            found.append(max(0.0, (one.first_step_at - ended_at).total_seconds()))
    return found


def _stretches(launcher: str) -> list[Stretch]:
    rows = Attempt.objects.filter(launcher=launcher).order_by("-pk")
    nodes = F("run__config__document__compute__nodes")
    columns = ("run_id", "number", "outcome", "started_at", "first_step_at", "ended_at")
    return [
        Stretch(**{name: row[name] for name in columns}, nodes=row["nodes"] or 1)
        for row in rows.annotate(nodes=nodes).values(*columns, "nodes")[:_ATTEMPTS]
    ]


def _saves(launcher: str) -> list[float]:
    """Return the seconds of the anchors of the newest attempts, as their trainers told of them."""
    newest = list(
        Attempt.objects.filter(launcher=launcher, first_step_at__isnull=False)
        .order_by("-pk").values_list("pk", flat=True)[:_EVENTS_OF_ATTEMPTS]
    )  # fmt: skip
    rows = Event.objects.filter(attempt__in=newest, kind="checkpoint", data__kind="anchor")
    told = rows.order_by("-pk").values_list("attempt_id", "data__path", "data__state", "at")[:1000]
    begun: dict[tuple[int, str], datetime] = {}
    seconds = []
    for attempt_id, path, state, at in reversed(told):
        if state == "writing":
            begun[attempt_id, path] = at
        elif state == "complete" and (start := begun.pop((attempt_id, path), None)):
            seconds.append(max(0.0, (at - start).total_seconds()))
    return seconds


def _middle(seconds: Sequence[float]) -> float:
    return median(seconds) if seconds else 0.0
