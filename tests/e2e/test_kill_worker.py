"""The Celery worker dies: trainings go on, and the next worker finds everything as it was left."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from runs.models import Attempt
from tests.e2e.training import launch, launched
from tests.live_service import LiveService
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e


def test_training_outlives_the_worker_and_is_found_again(live_service: LiveService):
    training = launched(live_service)
    workload = training.the_workload()
    live_service.kill("worker")
    training.wait_steps(50)

    live_service.start_process("worker")
    live_service.wait_ready()

    assert training.wait_shown("running").why != "contact_lost"
    assert training.the_workload() == workload
    assert training.attempt.number == 1
    training.finish()


def test_what_happened_without_a_worker_is_told_by_the_next(live_service: LiveService):
    dies, stops = launched(live_service), launched(live_service)
    live_service.kill("worker")
    dies_pid = next(
        process.pid
        for process in dies.workloads()
        if process.environ()["SAFEHOLD_DIR"] == str(dies.folder())
    )
    os.kill(dies_pid, 9)
    stops.stop()

    live_service.start_process("worker")
    live_service.wait_ready()

    assert "signal 9" in dies.wait_shown("failed").why
    stops.wait_shown("stopped")
    for training in (dies, stops):
        training.wait_stored()
        training.assert_nothing_lost_or_doubled()
    assert stops.workloads() == []


def test_worker_killed_between_start_and_record_leaves_one_workload(live_service: LiveService):
    with held_lock_of_the_first_attempt(live_service) as let_start:
        training = launch(live_service)
        wait_until(lambda: training.attempt.state == "submitting", 30, training.report)
        with locked_row(training.attempt):
            let_start()
            wait_until((training.folder() / "wrapper.json").exists, 30, training.report)
            live_service.kill("worker")
        assert training.attempt.state == "submitting"
        assert training.attempt.handle == {}

    live_service.start_process("worker")
    live_service.wait_ready()

    training.wait_shown("running")
    training.wait_steps(20)
    training.the_workload()
    # The trainer's own heartbeat may be quicker than the worker that adopts it.
    wait_until(lambda: training.attempt.handle.get("pid"), 30, training.report)
    training.finish()


@contextmanager
def held_lock_of_the_first_attempt(service: LiveService) -> Iterator[object]:
    """Make the start of run 1 wait, in the launcher, until the yielded function is called."""
    folder = service.home / "attempts" / next_name()
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(lock, fcntl.LOCK_UN)


def next_name() -> str:
    """Return the name that the next run's first attempt will have."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value, is_called FROM runs_run_id_seq")
        last, is_called = cursor.fetchone()
    return f"safehold-r{last + is_called}-a1"


@contextmanager
def locked_row(attempt: Attempt) -> Iterator[None]:
    """Keep everybody else from writing to an attempt."""
    from django.db import connection

    parameters = connection.get_connection_params()
    for ours in ("cursor_factory", "context", "prepare_threshold"):
        parameters.pop(ours, None)
    with psycopg.connect(**parameters) as link:
        link.execute("SELECT 1 FROM runs_attempt WHERE id = %s FOR UPDATE", [attempt.pk])
        yield
        link.rollback()
