"""However batches overlap, repeat and race: every record is stored once."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from django.db import connection, connections
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.ingest import senders
from runs.metricstore.compaction import compact_attempt
from runs.models import Attempt, Journal, MetricBatch
from runs.services.ingest import store_batch
from safehold import wire
from tests.factories import make_attempt, make_run
from tests.runs.ingest.posting import ack_of, case, chart, make_batch, post, send, shown


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Run the acts in threads that begin together, each with a connection of its own."""
    barrier, results, errors = threading.Barrier(len(acts)), [None] * len(acts), []

    def run(at: int, act: Callable[[], object]) -> None:
        try:
            barrier.wait(20)
            results[at] = act()
        except Exception as error:  # noqa: BLE001  (raised again below, in the test's thread)
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    return results


@pytest.fixture
def attempt(transactional_db: None) -> Iterator[Attempt]:
    senders.forget_all()
    yield make_attempt(state="running")
    senders.forget_all()


def test_three_requests_at_once_store_161_points(attempt: Attempt) -> None:
    names = ["retry_first.json", "retry_first.json", "retry_with_one_more_point.json"]
    answers = at_once(
        *(lambda name=name: post(attempt, case(name), client=Client()).json() for name in names)
    )
    assert sum(answer["stored"] for answer in answers) == 161
    assert sum(batch.num_points for batch in MetricBatch.objects.all()) == 161


def test_the_same_batch_from_many_connections_is_stored_once(attempt: Attempt) -> None:
    send(attempt, make_batch(1))
    batch = make_batch(50, first_seq=2, first_step=2)
    acks = at_once(*[lambda: ack_of(send(attempt, batch))] * 6)
    assert [ack.acked for ack in acks] == [51] * 6
    assert sum(ack.stored for ack in acks) == 50
    assert len(shown(chart(attempt, "train/loss"))) == 51


def test_ranks_that_write_at_once_lose_and_double_nothing(transactional_db: None) -> None:
    """DB-01 in small: eight ranks and a reader of the newest step; no error, no deadlock."""
    senders.forget_all()
    run = make_run()
    attempt = make_attempt(run=run, state="running")

    def rank(number: int) -> Callable[[], None]:
        def act() -> None:
            for at in range(12):
                heartbeat = wire.Heartbeat(
                    at=int(time.time() * 1000), step=at, tokens=0, phase="training"
                )
                batch = make_batch(
                    5, first_seq=at * 5 + 1, first_step=at * 5 + 1, rank=number,
                    journal=f"{number:032x}", heartbeat=heartbeat,
                )  # fmt: skip
                assert ack_of(send(attempt, batch)).acked == at * 5 + 5
                chart(attempt, "train/loss")

        return act

    at_once(*(rank(number) for number in range(8)))
    assert set(Journal.objects.values_list("acked_seq", flat=True)) == {60}
    assert sum(batch.num_records for batch in MetricBatch.objects.all()) == 8 * 60


def test_a_chart_read_while_compaction_runs_misses_nothing_and_doubles_nothing(
    attempt: Attempt,
) -> None:
    num, done = 60, threading.Event()

    def write() -> None:
        for at in range(num):
            batch = make_batch(20, first_seq=at * 20 + 1, first_step=at * 20 + 1)
            store_batch(attempt=attempt, batch=batch)
        done.set()

    def compact() -> None:
        while not done.is_set():
            compact_attempt(attempt.pk)

    def read() -> int:
        reads = 0
        while not done.is_set():
            values = shown(chart(attempt, "train/loss", points=20_000))
            assert values == {step: 2.0 + 0.01 * step for step in range(1, len(values) + 1)}
            assert len(values) % 20 == 0
            reads += 1
        return reads

    assert at_once(write, compact, compact, read)[3]
    assert len(shown(chart(attempt, "train/loss", points=20_000))) == num * 20


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), min_size=1, max_size=12),
    st.booleans(),
)
def test_any_order_of_overlapping_batches_stores_a_prefix_once(
    pieces: list[tuple[int, int]], compacting: bool
) -> None:
    attempt = make_attempt(state="running")
    stored, mark = 0, 0
    for back, n in pieces:
        first = max(1, mark + 1 - back)
        ack = store_batch(attempt=attempt, batch=make_batch(n, first_seq=first, first_step=first))
        stored, mark = stored + ack.stored, max(mark, first + n - 1)
        assert ack.acked == mark
        if compacting:
            compact_attempt(attempt.pk)
    values = shown(chart(attempt, "train/loss"))
    assert values == {step: 2.0 + 0.01 * step for step in range(1, mark + 1)}
    assert stored == chart(attempt, "train/loss")["num_points"] == mark


def test_a_message_that_comes_late_a_second_time_turns_nothing_back(attempt: Attempt) -> None:
    """A request that hung in a queue while its repetition and others were stored."""

    def beating(first: int, step: int, phase: str, **changes: Any) -> wire.Batch:
        at = int(time.time() * 1000) - changes.pop("ago_ms", 0)
        beat = wire.Heartbeat(at=at, step=step, tokens=step * 100, phase=phase)
        return make_batch(50, first_seq=first, first_step=first, heartbeat=beat)

    send(attempt, beating(1, 50, "training"))
    send(attempt, beating(51, 100, "paused"))
    before = facts(attempt)
    ack = ack_of(send(attempt, beating(1, 50, "training", ago_ms=600_000)))
    assert (ack.acked, ack.stored) == (100, 0)
    assert facts(attempt) == before
    assert before[0] == 100
    send(attempt, make_batch(60, first_seq=91, first_step=91))  # what is new of an overlap counts
    assert facts(attempt)[0] == 150


def facts(attempt: Attempt) -> tuple[Any, ...]:
    """Return what lists and pages show of a run beside its curves."""
    attempt = Attempt.objects.select_related("run").get(pk=attempt.pk)
    run = attempt.run
    told = (run.step, run.tokens, run.last_loss, run.sparkline)
    return (*told, attempt.state, attempt.phase, attempt.step, attempt.clock_skew_seconds)


def test_the_cost_of_a_batch_does_not_grow_with_the_history(attempt: Attempt) -> None:
    """MET-02: a retry after a million points reads no more rows than on an empty run."""
    blocks = []
    for history in (0, 1_000_000):
        for at in range(0, history, 100_000):
            columns = tuple(wire.Column(f"m{i}", None, np.zeros(20_000)) for i in range(5))
            batch = make_batch(20_000, first_seq=at // 5 + 1, journal="2" * 32, columns=columns)
            store_batch(attempt=attempt, batch=batch)
        journal = f"{history + 3:032x}"
        store_batch(attempt=attempt, batch=make_batch(10, journal=journal))
        before = rows_touched()
        store_batch(attempt=attempt, batch=make_batch(11, journal=journal))
        blocks.append(rows_touched() - before)
    assert blocks[1] <= blocks[0] + 30


def rows_touched() -> int:
    """Return the rows that this database has read or written so far, as PostgreSQL counts them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT 1")
        cursor.execute(
            "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables"
            " WHERE relname IN ('runs_metricbatch', 'runs_metricchunk', 'runs_journal')"
        )
        return int(cursor.fetchone()[0])
