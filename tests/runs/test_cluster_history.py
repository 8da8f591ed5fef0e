"""A cluster's own interruptions, restarts and saves replace the reported defaults (PLAN-5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import cluster_history
from runs.models import Attempt, Event, Run
from tests.factories import make_attempt, make_config, make_run

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
LAB = "kubernetes:lab"


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def run_on(nodes: int) -> Run:
    document = {"schema_version": 1, "name": "c", "compute": {"devices": 8 * nodes, "nodes": nodes}}
    return make_run(config=make_config(document=document), launcher=LAB)


def ended(run: Run, outcome: str, started_at: datetime, ended_at: datetime, **more: Any) -> Attempt:
    return make_attempt(
        run=run, state="ended", outcome=outcome, started_at=started_at, ended_at=ended_at, **more
    )


def test_nothing_is_known_where_nothing_is_named() -> None:
    assert cluster_history.history_of("") is None


def test_a_cluster_that_never_ran_anything_has_the_reported_rate() -> None:
    found = cluster_history.history_of("lab")
    assert found is not None
    assert (found.rate.source, found.restart_seconds, found.save_seconds) == ("default", 0, 0)


def test_interruptions_are_counted_over_the_node_days(now: datetime) -> None:
    run = run_on(4)
    ended(run, "lost", now - 10 * DAY, now - 5 * DAY)
    ended(run, "failed", now - 5 * DAY, now - 4 * DAY)
    ended(run, "taken_away", now - 4 * DAY, now - 2 * DAY)
    make_attempt(run=run_on(2), state="running", started_at=now - DAY)
    make_attempt(run=make_run(), state="running", started_at=now - 90 * DAY)  # another launcher
    found = cluster_history.history_of("lab")
    assert found is not None
    assert found.rate.source == "learned"
    assert found.rate.num_failures == 2
    assert found.rate.node_days == pytest.approx(4 * 8 + 2, rel=0.001)


def test_restarts_last_from_the_end_to_the_next_first_step(now: datetime) -> None:
    run = run_on(1)
    minutes = timedelta(minutes=1)
    ended(run, "lost", now - DAY, now - 300 * minutes)
    ended(
        run, "stopped", now - 299 * minutes, now - 200 * minutes, first_step_at=now - 296 * minutes
    )
    ended(run, "failed", now - 100 * minutes, now - 50 * minutes, first_step_at=now - 99 * minutes)
    make_attempt(run=run, state="running", started_at=now - 49 * minutes, first_step_at=now - 44 * minutes)  # fmt: skip
    found = cluster_history.history_of(LAB)
    assert found is not None
    assert found.restart_seconds == pytest.approx(5 * 60)


def test_a_night_in_which_nobody_looked_is_no_restart(now: datetime) -> None:
    run = run_on(1)
    ended(run, "failed", now - 2 * DAY, now - DAY)
    make_attempt(run=run, state="running", started_at=now, first_step_at=now)
    found = cluster_history.history_of("lab")
    assert found is not None
    assert found.restart_seconds == 0


def test_saves_are_the_anchors_that_the_trainers_told_of(now: datetime) -> None:
    attempt = make_attempt(run=run_on(1), state="running", started_at=now - DAY, first_step_at=now)
    for step, kind, seconds in ((1, "anchor", 20), (2, "anchor", 40), (3, "snapshot", 900)):
        for state, after in (("writing", 0), ("complete", seconds)):
            Event.objects.create(
                run=attempt.run, attempt=attempt, kind="checkpoint", message="",
                at=now - DAY + timedelta(hours=step, seconds=after),
                data={"path": f"/c/step-{step}", "kind": kind, "state": state, "step": step},
            )  # fmt: skip
    found = cluster_history.history_of("lab")
    assert found is not None
    assert found.save_seconds == pytest.approx(30)


def test_the_queries_are_few(now: datetime, django_assert_max_num_queries: Any) -> None:
    for _ in range(5):
        ended(run_on(1), "lost", now - DAY, now)
    with django_assert_max_num_queries(3):
        cluster_history.history_of("lab")
