"""The sweep, and copies of a task beside each other."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from tests.factories import make_attempt
from tests.workers.reporting import beat, launched, newest
from tests.workers.scripted import Scripted
from workers import loading, locks
from workers.passes import reconcile_run
from workers.tasks import reconcile
from workers.tasks.reconcile import sweep


@pytest.mark.django_db
class TestSweep:
    def test_lost_message_costs_one_sweep(self, scripted: Scripted):
        """CEL-02: nothing but the row says that the run is due."""
        run, _ = launched()

        sweep()

        assert newest(run).state == "starting"

    def test_quiet_runs_cost_few_queries_and_no_write(
        self, scripted: Scripted, django_assert_max_num_queries
    ):
        made = [launched()[0] for _ in range(5)]
        sweep()
        for run in made:
            beat(newest(run))
        sweep()

        with django_assert_max_num_queries(5 * 5 + 2) as queries:
            sweep()
        assert not [
            q for q in queries.captured_queries if q["sql"].startswith(("UPDATE", "INSERT"))
        ]

    def test_settled_runs_are_not_looked_at(self, scripted, django_assert_num_queries):
        for _ in range(3):
            make_attempt(state="ended", outcome="finished", ended_at=timezone.now())

        with django_assert_num_queries(1):
            sweep()

    def test_sweep_goes_on_where_its_time_ended(self, scripted, monkeypatch, settings):
        settings.SAFEHOLD_SWEEP_SECONDS = 0
        woken = []
        monkeypatch.setattr("workers.tasks.reconcile.wake", lambda name, **ids: woken.append(ids))
        first, second = launched()[0], launched()[0]

        sweep()
        assert newest(second).state == "requested"
        sweep(**woken.pop())

        assert {newest(first).state, newest(second).state} == {"starting"}


@pytest.mark.django_db(transaction=True)
def test_copies_of_a_task_exclude_each_other(scripted: Scripted):
    """CEL-01: delivered twice at once, the effect happens once."""
    run, _ = launched()
    is_starting, may_go_on = threading.Event(), threading.Event()

    def hold() -> None:
        is_starting.set()
        assert may_go_on.wait(10)

    scripted.on_start = hold
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(in_thread, run.pk)
        assert is_starting.wait(10)
        # The second finds the run taken and is done at once.
        pool.submit(in_thread, run.pk).result(10)
        assert len(scripted.calls) == 1
        may_go_on.set()
        first.result(10)

    assert scripted.starts == {newest(run).name: 1}
    assert newest(run).state == "starting"


@pytest.mark.django_db(transaction=True)
def test_a_database_that_restarts_under_a_sweep_costs_one_run_of_it(
    scripted: Scripted, monkeypatch
):
    made = [launched()[0] for _ in range(3)]
    load, loads = loading.load, []

    def dying(run_id: int) -> loading.Loaded | None:
        loads.append(run_id)
        if len(loads) == 1:
            end_own_connection()
        return load(run_id)

    monkeypatch.setattr(loading, "load", dying)
    sweep()

    assert [newest(run).state for run in made] == ["requested", "starting", "starting"]


@pytest.mark.django_db(transaction=True)
def test_a_database_that_restarts_before_the_lock_costs_one_run_of_the_sweep(
    scripted: Scripted, monkeypatch
):
    made = [launched()[0] for _ in range(3)]
    see_to, seen = reconcile._see_to, []

    def dying(run_id: int) -> None:
        seen.append(run_id)
        if len(seen) == 1:
            end_own_connection()
        see_to(run_id)

    monkeypatch.setattr(reconcile, "_see_to", dying)
    sweep()

    assert [newest(run).state for run in made] == ["requested", "starting", "starting"]


def end_own_connection() -> None:
    """As a server that goes down does."""
    with contextlib.suppress(OperationalError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.mark.django_db(transaction=True)
def test_lock_falls_with_the_connection():
    with ThreadPoolExecutor(1) as pool:

        def die_with_the_lock() -> None:
            with locks.run_lock(7) as is_held:
                assert is_held
                connection.close()
            connection.close()

        pool.submit(die_with_the_lock).result(10)
    with locks.run_lock(7) as is_held:
        assert is_held


def in_thread(run_id: int) -> None:
    try:
        reconcile_run(run_id)
    finally:
        connection.close()
