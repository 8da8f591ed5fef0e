"""Charts against a plain reference: every point in a dictionary, no chunks, no levels, no tail."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.metricstore import compaction
from runs.models import Attempt, Run
from runs.services import metrics
from runs.services.ingest import store_batch
from safehold import wire
from tests.factories import make_attempt, make_run
from tests.runs.ingest.posting import make_batch

NAME = "train/loss"
SPIKES = (11.5, -7.0, 30.0, np.nan, np.inf)


@dataclass(frozen=True)
class Told:
    """What one attempt logs: a quiet line from a step on, with a few spikes in it."""

    start_step: int
    num: int
    spikes: tuple[tuple[int, float], ...]

    @property
    def values(self) -> np.ndarray:
        values = 2.0 + 0.01 * np.sin(np.arange(self.num))
        for at, value in self.spikes:
            values[at % self.num] = value
        return values

    @property
    def points(self) -> dict[int, float]:
        return dict(enumerate(self.values.tolist(), self.start_step + 1))


@st.composite
def histories(draw: st.DrawFn) -> list[Told]:
    """Return one to three attempts, each going on from somewhere in the one before."""
    spike = st.tuples(st.integers(0, 699), st.sampled_from(SPIKES))
    told: list[Told] = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(1, told[-1].start_step + told[-1].num)) if told else 0
        num, spikes = draw(st.integers(1, 700)), draw(st.lists(spike, max_size=8))
        told.append(Told(start, num, tuple(spikes)))
    return told


def standing(told: list[Told]) -> Iterator[tuple[int, bool, dict[int, float]]]:
    """Yield number of the attempt, whether it is superseded there, and its points: the rule, said plainly."""
    for number, one in enumerate(told, 1):
        cut = min((later.start_step + 1 for later in told[number:]), default=10**9)
        yield number, False, {step: value for step, value in one.points.items() if step < cut}
        yield number, True, {step: value for step, value in one.points.items() if step >= cut}


def store(run: Run, told: list[Told], compacted: int) -> None:
    """Store each attempt in batches: none is compacted, the first half of them, or all."""
    for number, one in enumerate(told, 1):
        attempt = make_attempt(
            run=run, number=number, state="ended", outcome="lost", ended_at=timezone.now(),
            first_step_at=timezone.now(), start_step=one.start_step,
            start_checkpoint={"step": one.start_step} if one.start_step else {},
        )  # fmt: skip
        _store_attempt(attempt, one, compacted)


def _store_attempt(attempt: Attempt, one: Told, compacted: int) -> None:
    values, size = one.values, 150
    for at in range(0, values.size, size):
        part = values[at : at + size]
        columns = (wire.Column(NAME, None, part),)
        batch = make_batch(
            part.size, first_seq=at + 1, first_step=one.start_step + at + 1, columns=columns
        )
        store_batch(attempt=attempt, batch=batch)
        if compacted == 2 or (compacted and at < values.size // 2):
            compaction.compact_attempt(attempt.pk)


def drawn(series: dict[str, Any]) -> dict[tuple[int, bool], dict[int, float]]:
    found = {}
    for part in series["parts"]:
        values = dict(zip(part["steps"], part["values"], strict=True))
        values |= {mark["step"]: float(mark["value"]) for mark in part["marks"]}
        found[part["attempt"], part["superseded"]] = values
    return found


def finite(values: dict[int, float]) -> dict[int, float]:
    return {step: value for step, value in values.items() if np.isfinite(value)}


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    told=histories(),
    compacted=st.integers(0, 2),
    budget=st.integers(24, 200),
    x=st.sampled_from(["step", "tokens", "time"]),
    ends=st.tuples(st.integers(0, 900), st.integers(0, 900)) | st.none(),
    skew_seconds=st.sampled_from([None, 7200.0, -86_400.0]),
)
def test_a_thinned_chart_shows_extremes_ends_and_bad_values_of_what_is_wanted(
    told: list[Told],
    compacted: int,
    budget: int,
    x: str,
    ends: tuple[int, int] | None,
    skew_seconds: float | None,
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compaction, "CHUNK_POINTS", 160)
        run = make_run()
        store(run, told, compacted)
    run.attempts.update(clock_skew_seconds=skew_seconds)
    begun = 1_764_000_000_000 - round(1000 * (skew_seconds or 0))
    scale, offset = {"step": (1, 0), "tokens": (100, 0), "time": (1, begun)}[x]
    window = {}
    if ends is not None:
        window = {"start": min(ends) * scale + offset, "end": max(ends) * scale + offset}
    document = metrics.read_chart(run=run, names=[NAME], x=x, points=budget, **window)
    assert document["x"] == x
    found = drawn(document["series"][0])
    low, high = (min(ends), max(ends)) if ends else (0, 10**9)
    assert sum(len(finite(values)) for values in found.values()) <= budget
    for number, is_superseded, points in standing(told):
        wanted = {step: value for step, value in points.items() if low <= step <= high}
        shown = found.pop((number, is_superseded), {})
        assert all(repr(wanted[step]) == repr(value) for step, value in shown.items())
        assert (len(finite(wanted)) == len(wanted)) == (len(finite(shown)) == len(shown))
        if good := finite(wanted):
            kept = finite(shown)
            assert (min(kept.values()), max(kept.values())) == (
                min(good.values()),
                max(good.values()),
            )
        if wanted:
            assert (min(shown), max(shown)) == (min(wanted), max(wanted))
    assert not found


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    stretches=st.lists(
        st.tuples(
            st.integers(1, 900), st.integers(1, 400), st.sampled_from([2.0, *SPIKES]), st.booleans()
        ),
        min_size=2, max_size=6,
    ),
    budget=st.integers(16, 100),
)  # fmt: skip
def test_a_thinned_chart_shows_no_value_that_its_own_attempt_replaced(
    stretches: list[tuple[int, int, float, bool]], budget: int
) -> None:
    """Senders of JSON go back within one attempt; what came last stands, at any zoom."""
    attempt, points, seq = make_attempt(state="running"), {}, 1
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compaction, "CHUNK_POINTS", 160)
        for first, num, spike, is_compacted in stretches:
            values = 2.0 + 0.001 * (seq + np.arange(num))
            values[num // 2] = spike
            columns = (wire.Column(NAME, None, values),)
            batch = make_batch(num, first_seq=seq, first_step=first, columns=columns)
            store_batch(attempt=attempt, batch=batch)
            points |= dict(enumerate(values.tolist(), first))
            seq += num
            if is_compacted:
                compaction.compact_attempt(attempt.pk)
    document = metrics.read_chart(run=attempt.run, names=[NAME], x="step", points=budget)
    (shown,) = drawn(document["series"][0]).values()
    assert all(repr(points[step]) == repr(value) for step, value in shown.items())
    if good := finite(points):
        assert max(finite(shown).values()) == max(good.values())
        assert min(finite(shown).values()) == min(good.values())
