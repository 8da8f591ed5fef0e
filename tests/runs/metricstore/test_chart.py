import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.metricstore import chart as chart_module
from runs.metricstore import chunks, compaction, reading, sql, tail
from runs.models import Attempt, MetricBatch, MetricChunk
from runs.services import metrics
from runs.services.ingest import store_batch
from safehold import wire
from tests.factories import make_attempt
from tests.runs.ingest.posting import chart, make_batch, shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def store(attempt: Attempt, values: np.ndarray, *, size: int = 20_000) -> None:
    """Store one curve from step 1 on."""
    for at in range(0, values.size, size):
        part = values[at : at + size]
        store_batch(
            attempt=attempt,
            batch=make_batch(
                part.size, first_seq=at + 1, first_step=at + 1,
                columns=(wire.Column("loss", None, part),),
            ),
        )  # fmt: skip


@pytest.fixture
def long_history(attempt: Attempt) -> Attempt:
    """MET-06: 200,000 steps with one spike of a single step and one NaN; a tail left as batches."""
    values = 2.0 + 0.02 * np.sin(np.arange(1, 200_001) / 50)
    values[123_456], values[150_000] = 11.5, np.nan
    store(attempt, values[:199_000])
    compaction.compact_attempt(attempt.pk)
    rest = make_batch(
        1000, first_seq=199_001, first_step=199_001,
        columns=(wire.Column("loss", None, values[199_000:]),),
    )  # fmt: skip
    store_batch(attempt=attempt, batch=rest)
    return attempt


def test_a_long_curve_is_bounded_and_keeps_spike_mark_and_end(long_history: Attempt) -> None:
    series = chart(long_history, "loss", points=2000)
    [part] = series["parts"]
    curve = dict(zip(part["steps"], part["values"], strict=True))
    assert len(curve) <= 2000
    assert not part["is_raw"]
    assert curve[123_457] == 11.5
    assert part["marks"] == [{"x": 150_001, "step": 150_001, "value": "NaN"}]
    assert max(curve) == 200_000
    least = 2.0 + 0.02 * np.sin(np.arange(1, 200_001) / 50).min()
    assert (min(curve.values()), max(curve.values())) == (least, 11.5)
    assert (series["num_points"], series["num_not_finite"]) == (200_000, 1)


@pytest.mark.parametrize("x", ["step", "tokens", "time"])
def test_zooming_in_shows_every_step(long_history: Attempt, x: str) -> None:
    scale = {"step": (1, 0), "tokens": (100, 0), "time": (1, 1_764_000_000_000)}[x]
    ends = [step * scale[0] + scale[1] for step in (123_400, 123_500)]
    series = chart(long_history, "loss", x=x, start=ends[0], end=ends[1])
    assert sorted(shown(series)) == list(range(123_400, 123_501))
    assert series["parts"][0]["is_raw"]


def test_points_come_from_batches_and_chunks_alike_and_each_once(attempt: Attempt) -> None:
    values = np.random.default_rng(0).normal(size=700)
    store(attempt, values, size=50)
    before = shown(chart(attempt, "loss"))
    compaction.compact_attempt(attempt.pk)
    assert not MetricBatch.objects.filter(attempt=attempt).exists()
    assert shown(chart(attempt, "loss")) == before
    assert before == {step: values[step - 1] for step in range(1, 701)}


def test_compaction_fills_the_open_chunk_before_it_begins_another(attempt: Attempt) -> None:
    for first in (1, 5001, 10_001):
        batch = make_batch(5000, first_seq=first, first_step=first)
        store_batch(attempt=attempt, batch=batch)
        compaction.compact_attempt(attempt.pk)
    chunks = MetricChunk.objects.order_by("number").values_list("number", "num_points")
    assert list(chunks) == [(0, 8192), (1, 15_000 - 8192)]
    assert chart(attempt, "train/loss")["num_points"] == 15_000


def test_late_and_repeated_steps_are_kept_and_sorted(attempt: Attempt) -> None:
    for seq, first in enumerate((11, 1, 11)):
        batch = make_batch(
            10, first_seq=10 * seq + 1, first_step=first,
            columns=(wire.Column("loss", None, np.full(10, float(seq))),),
        )  # fmt: skip
        store_batch(attempt=attempt, batch=batch)
        compaction.compact_attempt(attempt.pk)
    series = chart(attempt, "loss")
    assert shown(series) == {step: 1.0 if step <= 10 else 2.0 for step in range(1, 21)}
    assert series["parts"][0]["steps"] == list(range(1, 21))
    assert series["num_points"] == 30


@pytest.mark.parametrize("compacted", [False, True], ids=["tail", "chunks"])
def test_a_spike_that_the_same_attempt_did_over_is_gone_at_any_zoom(
    attempt: Attempt, compacted: bool
) -> None:
    values = np.full(20_000, 2.0)
    values[5500] = 1e6
    store(attempt, values)
    compaction.compact_attempt(attempt.pk)
    again = (wire.Column("loss", None, np.full(1000, 3.0)),)
    store_batch(
        attempt=attempt, batch=make_batch(1000, first_seq=20_001, first_step=5001, columns=again)
    )
    if compacted:
        compaction.compact_attempt(attempt.pk)
    assert max(shown(chart(attempt, "loss")).values()) == 3.0


def test_without_known_tokens_the_axis_is_the_step(attempt: Attempt) -> None:
    unknown = np.full(4, -1, dtype=np.int64)
    store_batch(attempt=attempt, batch=make_batch(4, tokens=unknown))
    document = metrics.read_chart(run=attempt.run, names=["train/loss"])
    assert (document["x_asked"], document["x"]) == ("tokens", "step")
    assert document["series"][0]["parts"][0]["x"] == [1, 2, 3, 4]


@pytest.mark.parametrize("ends", [(0, 50), (10_000_000, 20_000_000)], ids=["before", "behind"])
def test_a_window_without_points_keeps_the_axis(attempt: Attempt, ends: tuple[int, int]) -> None:
    """Tokens are known, though not there: steps would stand in a window of tokens as if they were some."""
    store_batch(attempt=attempt, batch=make_batch(60, first_step=1))
    compaction.compact_attempt(attempt.pk)
    document = metrics.read_chart(run=attempt.run, names=["train/loss"], start=ends[0], end=ends[1])
    assert document["x"] == "tokens"
    assert document["series"][0]["parts"] == []


@pytest.mark.parametrize("far", [2**63, -(2**63) - 1, 10**30])
@pytest.mark.parametrize("x", ["tokens", "time"])
def test_a_window_beyond_64_bits_is_as_far_as_one_can_look(
    attempt: Attempt, x: str, far: int
) -> None:
    store_batch(attempt=attempt, batch=make_batch(6))
    compaction.compact_attempt(attempt.pk)
    for ends in ({"start": far}, {"end": far}):
        is_all = (far < 0) == ("start" in ends)
        parts = chart(attempt, "train/loss", x=x, **ends)["parts"]
        assert sum(len(part["steps"]) for part in parts) == (6 if is_all else 0)


def test_the_lowest_rank_that_logs_a_metric_is_shown_unless_one_is_asked_for(
    attempt: Attempt,
) -> None:
    for rank in (3, 1):
        column = (wire.Column("loss", None, np.full(2, float(rank))),)
        batch = make_batch(2, rank=rank, journal=f"{rank:032x}", columns=column)
        store_batch(attempt=attempt, batch=batch)
    assert shown(chart(attempt, "loss")) == {1: 1.0, 2: 1.0}
    assert shown(chart(attempt, "loss", rank=3)) == {1: 3.0, 2: 3.0}


def test_a_name_that_nobody_logged_has_no_parts(attempt: Attempt) -> None:
    series = chart(attempt, "no such metric")
    assert (series["parts"], series["last"], series["num_points"]) == ([], None, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"x": "epoch"}, "x is 'epoch'"), ({"points": 5}, "points is 5"), ({"names": ["a"] * 201}, "names has 201")],
)  # fmt: skip
def test_an_argument_out_of_bounds_is_named(attempt: Attempt, given: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        metrics.read_chart(run=attempt.run, **{"names": []} | given)


def test_the_number_of_queries_does_not_depend_on_names_chunks_or_tail(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = tuple(wire.Column(f"m{i}", None, np.arange(20_000.0)) for i in range(8))
    store_batch(attempt=attempt, batch=make_batch(20_000, columns=columns))
    compaction.compact_attempt(attempt.pk)
    later = make_batch(20, first_seq=20_001, first_step=20_001)
    store_batch(attempt=attempt, batch=later)
    asked: list[str] = []

    def rows(query: str, *values: object) -> list[tuple]:
        asked.append(query)
        return sql.rows(query, *values)

    for module in (chart_module, chunks, reading, tail):
        monkeypatch.setattr(module, "rows", rows)
    with CaptureQueriesContext(connection) as others:
        metrics.read_chart(run=attempt.run, names=[f"m{i}" for i in range(8)], x="step")
    assert len(asked) <= 6
    assert len(others) == 0


def test_a_second_compaction_at_the_same_time_stands_back(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_batch(attempt=attempt, batch=make_batch(10))
    monkeypatch.setattr(compaction, "_locked", lambda attempt_id: False)
    assert compaction.compact_attempt(attempt.pk) == 0
    assert MetricBatch.objects.filter(attempt=attempt).count() == 1


def test_a_compaction_that_crashes_leaves_the_batches(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_batch(attempt=attempt, batch=make_batch(10))
    with monkeypatch.context() as patched:
        patched.setattr(compaction, "count_in", lambda new: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            compaction.compact_attempt(attempt.pk)
    assert not MetricChunk.objects.exists()
    assert compaction.compact_attempt(attempt.pk) == 1
    assert chart(attempt, "train/loss")["num_points"] == 10
