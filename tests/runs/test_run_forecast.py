"""A run under way is forecast anew from what it has shown, and its start is held against ln(V) (PLAN-4, PLAN-5)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import run_forecast
from runs.models import Attempt, Run
from tests.factories import make_attempt, make_config, make_run
from tests.runs.planned import log

pytestmark = pytest.mark.django_db
DOCUMENT: dict[str, Any] = {
    "schema_version": 1, "name": "c", "stage": "pretrain", "network": {"vocabulary": 1000},
    "train": {"steps": 1000}, "compute": {"devices": 2, "nodes": 2}, "checkpoint": {"anchor_every_steps": 100},
}  # fmt: skip


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def a_run(step: int = 100, **changes: Any) -> Run:
    config = make_config(document=DOCUMENT | changes)
    return make_run(config=config, total_steps=1000, step=step)


def an_attempt(run: Run, now: datetime) -> Attempt:
    return make_attempt(
        run=run, state="running", requested_at=now - timedelta(seconds=400), started_at=now - timedelta(seconds=250)
    )  # fmt: skip


def test_what_is_left_follows_from_the_newest_steps(now: datetime) -> None:
    run = a_run()
    log(an_attempt(run, now), time__step_seconds=dict.fromkeys(range(1, 101), 2.0))
    found = run_forecast.forecast_of(run, now)
    assert found is not None
    assert (found.progress.step_seconds, found.progress.nodes) == (2.0, 2)
    assert found.left_seconds == pytest.approx(900 * 2.0 / found.expected)
    assert found.useful.job_wall_clock == pytest.approx(200 / 250)
    assert found.useful.availability == pytest.approx(200 / 400)
    assert found.planned_days is None


def test_a_run_that_did_no_step_has_no_forecast(now: datetime) -> None:
    run = a_run(step=0)
    an_attempt(run, now)
    assert run_forecast.forecast_of(run, now) is None
    assert run_forecast.forecast_of(a_run(), now) is None


@pytest.mark.parametrize(
    ("loss", "verdict"), [(6.9, "as expected"), (3.0, "far below"), (20.0, "far above")]
)
def test_the_first_loss_is_held_against_the_vocabulary(
    now: datetime, loss: float, verdict: str
) -> None:
    run = a_run()
    log(an_attempt(run, now), train__loss={1: loss, 2: loss})
    found = run_forecast.start_of(run)
    assert found is not None
    assert (found.verdict, found.step) == (verdict, 1)
    assert found.expected == pytest.approx(6.908, abs=0.001)


def test_a_later_stage_begins_below_it_by_right(now: datetime) -> None:
    run = a_run(stage="sft")
    log(an_attempt(run, now), train__loss={1: 2.0})
    assert run_forecast.start_of(run) is None


def test_the_document_is_plain(now: datetime) -> None:
    run = a_run()
    log(an_attempt(run, now), time__step_seconds={100: 2.0}, train__loss={1: 6.9})
    document = run_forecast.document_of(run)
    assert document["acceptance"] is None
    assert document["forecast"]["done_steps"] == 100
    assert document["start"]["verdict"] == "as expected"
