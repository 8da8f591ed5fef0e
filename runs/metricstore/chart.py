"""The document of a chart: docs/reference/metrics-json.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runs.metricstore import curve
from runs.metricstore.curve import Axis, Part, Stretch
from runs.metricstore.points import Points
from runs.metricstore.reading import Found, Key, gather
from runs.metricstore.sql import rows
from runs.metricstore.window import Range
from runs.models import Run, Series

MIN_POINTS, MAX_POINTS = 10, 20_000
MAX_NAMES = 200
_JOURNALS = """
SELECT journal, acked_seq FROM runs_journal WHERE attempt_id IN
  (SELECT id FROM runs_attempt WHERE run_id = %s) ORDER BY attempt_id
"""
_ATTEMPTS = """
SELECT id, number, start_step,
  start_checkpoint <> '{}'::jsonb AND start_checkpoint ->> 'takes' IS DISTINCT FROM 'weights', first_step_at IS NOT NULL,
  coalesce(clock_skew_seconds, 0) FROM runs_attempt WHERE run_id = %s ORDER BY number
"""
_HAVE_TOKENS = """
SELECT 1 FROM runs_metricchunk WHERE series_id = ANY(%s::bigint[]) AND max_tokens >= 0 LIMIT 1
"""
Attempts = Mapping[int, Stretch]  # by the id of the attempt, in the order of their numbers


def read_chart(
    *,
    run: Run,
    names: Sequence[str],
    x: str = "tokens",
    start: int | None = None,
    end: int | None = None,
    points: int = 1000,
    rank: int | None = None,
) -> dict[str, Any]:
    """Return what a chart of these metrics draws, as plain JSON values.

    Args:
        run: All its attempts are read.
        names: At most 200 metrics; unknown ones give a series without parts.
        x: `tokens`, `step` or `time` (unix milliseconds).
        start: Where the wanted range begins in units of `x`; None = at the beginning.
        end: Where it ends, included; None = at the end.
        points: Most points of one metric; marks of values that are not finite come on top.
        rank: Only this rank; default: of each attempt the lowest one that logs the metric.

    Raises:
        ValueError: An argument is out of bounds; the message names it.
    """
    axis = _checked(x, names, points)
    journals = dict(rows(_JOURNALS, run.pk))
    attempts = attempts_of(run)
    slack = max((abs(one.skew_ms) for one in attempts.values()), default=0)
    within = Range(x=axis, start=start, end=end, slack=slack if axis == "time" else 0)
    names = list(dict.fromkeys(names))
    found = gather(attempts, names, within, points, rank, attempts) if names else {}
    if axis == "tokens" and found and not _knows_tokens(found, within):
        within = replace(within, x="step")
        found = gather(attempts, names, within, points, rank, attempts)
    return {
        "run": run.pk,
        "x": within.x,
        "x_asked": x,
        "journals": journals,
        "attempts": [_told(stretch) for stretch in attempts.values()],
        "series": [_series(name, attempts, found, within, points) for name in names],
    }


def list_names(run: Run) -> list[str]:
    """Return the names of all metrics that the run has logged, sorted."""
    found = Series.objects.filter(attempt__run=run).order_by("name").values_list("name", flat=True)
    return list(found.distinct())


def _checked(x: str, names: Sequence[str], points: int) -> Axis:
    axis = next((known for known in curve.AXES if known == x), None)
    if axis is None:
        raise ValueError(f"x is {x!r:.40}; known: {', '.join(curve.AXES)}.")
    if not MIN_POINTS <= points <= MAX_POINTS:
        raise ValueError(f"points is {points}, not from {MIN_POINTS} to {MAX_POINTS}.")
    if len(names) > MAX_NAMES:
        raise ValueError(f"names has {len(names)} entries, at most {MAX_NAMES} are read at once.")
    return axis


def attempts_of(run: Run) -> dict[int, Stretch]:
    """Return the attempts of a run as far as its curves depend on them, in their order."""
    return {
        pk: Stretch(
            number=number,
            start_step=start_step if from_checkpoint else None,
            has_begun=has_begun,
            skew_ms=round(skew * 1000),
        )
        for pk, number, start_step, from_checkpoint, has_begun, skew in rows(_ATTEMPTS, run.pk)
    }


def _told(stretch: Stretch) -> dict[str, Any]:
    return {
        "attempt": stretch.number,
        "start_step": stretch.start_step or 0,
        "clock_skew_seconds": stretch.skew_ms / 1000 if stretch.skew_ms else None,
    }


def _knows_tokens(found: Mapping[Key, Found], within: Range) -> bool:
    """Say whether any point has tokens, of those that were read or, where only a part was, of all."""
    read = [points for one in found.values() for points in (one.points, *one.tail) if points]
    if any(bool((points.tokens >= 0).any()) for points in read):
        return True
    series_ids = [one.series_id for one in found.values() if one.series_id is not None]
    return not within.is_open and bool(rows(_HAVE_TOKENS, series_ids))


def _series(
    name: str, attempts: Attempts, found: Mapping[Key, Found], within: Range, points: int
) -> dict[str, Any]:
    own = {pk: one for pk in attempts if (one := found.get((name, pk))) is not None}
    parts = parts_of(own, attempts, within)
    shares = curve.budgets([part.points.size for part in parts], points)
    return {
        "name": name,
        "num_points": sum(one.num_points + _in_tail(one) for one in own.values()),
        "num_not_finite": sum(one.num_not_finite + _bad_in_tail(one) for one in own.values()),
        "last": _last(own, attempts),
        "parts": [curve.drawn(part, share) for part, share in zip(parts, shares, strict=True)],
    }


def parts_of(own: Mapping[int, Found], attempts: Attempts, within: Range) -> list[Part]:
    """Return the parts by attempt; an earlier attempt ends where a later one begins."""
    parts: list[Part] = []
    for pk, stretch in attempts.items():
        one = own.get(pk)
        if one is not None and one.points is not None:
            standing, superseded = curve.split(one.points, one.cut)
            parts += _part(one, standing, stretch, within, is_superseded=False)
            parts += _part(one, superseded, stretch, within, is_superseded=True)
    return parts


def _part(
    one: Found, points: Points, stretch: Stretch, within: Range, *, is_superseded: bool
) -> list[Part]:
    x = curve.axis_of(points, within.x, stretch.skew_ms)
    wanted = x >= 0 if within.x == "tokens" else x == x
    if within.start is not None:
        wanted &= x >= within.start
    if within.end is not None:
        wanted &= x <= within.end
    if not wanted.any():
        return []
    part = Part(
        attempt=stretch.number, rank=one.rank, is_superseded=is_superseded,
        is_raw=one.factor == 1, points=points.take(wanted), x=x[wanted],
    )  # fmt: skip
    return [part]


def _in_tail(one: Found) -> int:
    return sum(part.size for part in one.tail)


def _bad_in_tail(one: Found) -> int:
    return sum(curve.num_not_finite(part) for part in one.tail)


def _last(own: Mapping[int, Found], attempts: Attempts) -> dict[str, Any] | None:
    for pk in reversed(list(own)):
        one = own[pk]
        if one.tail and one.tail[-1].size:
            step, value = one.tail[-1].steps[-1:], float(one.tail[-1].values[-1])
        elif one.max_step is not None and one.last_value is not None:
            step, value = curve.step_array(one.max_step), one.last_value
        else:
            continue
        shown = {"step": curve.exact(step)[0], "value": curve.spoken(value)}
        return {"attempt": attempts[pk].number, "rank": one.rank} | shown
    return None
