"""Curves of several runs over each other, and what one curve came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs.metricstore.chart import read_chart
from runs.metricstore.sql import rows
from runs.models import Run

# How far back the last value before a step is looked for, first near, then anywhere: a validation loss is
# logged every few hundred steps.
_WINDOWS = (1_000, 2**63)
_BEGUN = """
SELECT run_id, (extract(epoch FROM min(requested_at)) * 1000)::bigint FROM runs_attempt
WHERE run_id = ANY(%s::bigint[]) GROUP BY run_id
"""


@dataclass(frozen=True)
class Summary:
    """What a curve came to; None = it has no such point.

    Attributes:
        final: Its last value; not finite where it ended so.
        least: Its smallest finite value.
        least_step: Where that was.
        at_step: Its last value up to the asked step.
    """

    final: float | None
    least: float | None
    least_step: int | None
    at_step: float | None


def overlaid(
    *,
    runs: Sequence[Run],
    names: Sequence[str],
    x: str = "tokens",
    start: int | None = None,
    end: int | None = None,
    points: int = 1000,
) -> dict[str, Any]:
    """Return the charts of several runs on one axis; times count from the request of each run's first attempt.

    Args:
        runs: Which.
        names: Metrics.
        x: As `read_chart`; where one run knows no tokens, all are told by step.
        start: Where the range begins, in units of `x`.
        end: Where it ends.
        points: Most points of one metric of one run.

    Raises:
        ValueError: As `read_chart`.
    """
    begun = dict(rows(_BEGUN, [run.pk for run in runs])) if x == "time" else {}
    charts = [
        _shifted(run, begun.get(run.pk, 0), names=names, x=x, start=start, end=end, points=points)
        for run in runs
    ]
    if len({chart["x"] for chart in charts}) > 1:
        charts = [
            read_chart(run=run, names=names, x="step", start=start, end=end, points=points)
            for run in runs
        ]
    return {"x": charts[0]["x"] if charts else x, "charts": charts}


def summaries(*, run: Run, names: Sequence[str], step: int | None = None) -> dict[str, Summary]:
    """Return what the curves of a run came to, read off the thinned curve, which keeps ends and extremes."""
    whole = read_chart(run=run, names=names, x="step", points=1000)
    at = _values_up_to(run, names, step) if step is not None else {}
    return {one["name"]: _summary(one, at.get(one["name"])) for one in whole["series"]}


def _shifted(run: Run, begun_ms: int, **asked: Any) -> dict[str, Any]:
    """Return a chart whose times count from `begun_ms`; 0 changes nothing."""
    for name in ("start", "end"):
        if asked[name] is not None:
            asked[name] += begun_ms
    chart = read_chart(run=run, **asked)
    for part in (part for series in chart["series"] for part in series["parts"] if begun_ms):
        part["x"] = [at - begun_ms for at in part["x"]]
        for mark in part["marks"]:
            mark["x"] -= begun_ms
    return chart


def _summary(series: dict[str, Any], at_step: float | None) -> Summary:
    live = [part for part in series["parts"] if not part["superseded"]]
    lows = [
        (value, int(step))
        for part in live
        for value, step in zip(part["values"], part["steps"], strict=True)
    ]
    least, least_step = min(lows, default=(None, None))
    final = float(series["last"]["value"]) if series["last"] else None
    return Summary(final, least, least_step, at_step)


def _last_of(parts: Sequence[dict[str, Any]]) -> float | None:
    """Return the value with the highest step, a mark included."""
    ends = [(int(step), value) for part in parts
            for step, value in [*zip(part["steps"][-1:], part["values"][-1:], strict=True),
                                *((mark["step"], mark["value"]) for mark in part["marks"])]]  # fmt: skip
    return float(max(ends, key=lambda end: end[0])[1]) if ends else None


def _values_up_to(run: Run, names: Sequence[str], step: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for window in _WINDOWS:
        missing = [name for name in names if name not in found]
        if not missing:
            break
        chart = read_chart(
            run=run, names=missing, x="step", start=max(0, step - window), end=step, points=20_000
        )
        for series in chart["series"]:
            value = _last_of([part for part in series["parts"] if not part["superseded"]])
            if value is not None:
                found[series["name"]] = value
    return found
