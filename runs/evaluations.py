"""What runs measured last, for many runs in a few queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from runs import starts
from runs.metricstore.curve import Stretch, cut_of, split
from runs.metricstore.points import Points
from runs.metricstore.reading import gather
from runs.metricstore.window import Range
from runs.models import Attempt, Run
from safehold.planning.acceptance import Measured

# Evaluations are few; with more points than this the last one of each stretch is still exact.
_POINTS = 100_000
_FIRST_STEPS = 10  # a first loss that was logged later than this says nothing of the start


def newest(runs: Collection[Run], names: Sequence[str]) -> dict[int, dict[str, Measured]]:
    """Return the newest value of each metric of each run; what a later attempt does over does not count.

    Args:
        runs: Any number; the queries are as many as for one.
        names: Metrics; those that a run has not logged are left out.
    """
    attempts = _attempts(runs)
    stretches = [stretch for found in attempts.values() for stretch in found]
    if not (stretches and names):
        return {run.pk: {} for run in runs}
    found = gather([pk for pk, _ in stretches], list(names), Range(x="step"), _POINTS)
    points = {key: one.points for key, one in found.items() if one.points and one.points.size}
    return {run.pk: _of_run(attempts[run.pk], names, points) for run in runs}


def first(run: Run, names: Sequence[str]) -> Measured | None:
    """Return what a run that began from nothing measured at its very start; None where it did not."""
    attempts = run.attempts.filter(start_checkpoint={}).order_by("number")
    begun = attempts.values_list("pk", flat=True).first()
    if begun is None:
        return None
    found = gather([begun], list(names), Range(x="step", start=0, end=_FIRST_STEPS), _POINTS)
    parts = (one.points for one in found.values() if one.points and one.points.size)
    points = next(parts, None)
    if points is None or int(points.steps[0]) > _FIRST_STEPS:
        return None
    return Measured(float(points.values[0]), int(points.steps[0]))


def _attempts(runs: Iterable[Run]) -> Mapping[int, list[tuple[int, Stretch]]]:
    """Return the attempts of each run, the newest first."""
    found: dict[int, list[tuple[int, Stretch]]] = defaultdict(list)
    rows = Attempt.objects.filter(run__in=list(runs)).order_by("run_id", "-number")
    for one in rows.only("run_id", "number", "start_step", "start_checkpoint", "first_step_at"):
        start = one.start_step if starts.takes(one.start_checkpoint) == starts.STATE else None
        stretch = Stretch(number=one.number, start_step=start, has_begun=one.first_step_at is not None)  # fmt: skip
        found[one.run_id].append((one.pk, stretch))
    return found


def _of_run(
    attempts: Sequence[tuple[int, Stretch]],
    names: Sequence[str],
    points: Mapping[tuple[str, int], Points],
) -> dict[str, Measured]:
    found = {name: _newest_of(attempts, name, points) for name in names}
    return {name: one for name, one in found.items() if one is not None}


def _newest_of(
    attempts: Sequence[tuple[int, Stretch]], name: str, points: Mapping[tuple[str, int], Points]
) -> Measured | None:
    """Go back attempt by attempt; each ends where a later one took over."""
    cut: int | None = None
    for pk, stretch in attempts:
        own = points.get((name, pk))
        standing = split(own, cut)[0] if own is not None else None
        if standing is not None and standing.size:
            return Measured(float(standing.values[-1]), int(standing.steps[-1]))
        begins = cut_of(stretch, int(own.steps[0]) if own is not None else None)
        cut = begins if cut is None else min(cut, begins if begins is not None else cut)
    return None
