import math
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from checkpoints.services import stability
from checkpoints.states import State
from runs.models import Attempt, Event, Journal, MetricBatch
from tests.checkpoints.makers import begin, end, make_checkpoint
from tests.factories import make_attempt

pytestmark = pytest.mark.django_db


def log(attempt: Attempt, losses: dict[int, float], name: str = "train/loss") -> None:
    """Store the loss by step, as ingest does."""
    from runs.metricstore import tail
    from safehold.wire import Batch, Column

    steps = np.array(list(losses), dtype=np.int64)
    journal, _ = Journal.objects.get_or_create(attempt=attempt, rank=0, journal="a" * 32)
    batch = Batch(
        rank=0,
        journal=journal.journal,
        first_seq=journal.acked_seq + 1,
        steps=steps,
        tokens=steps * 1024,
        times=steps,
        columns=(Column(name, None, np.array(list(losses.values()), dtype=np.float64)),),
    )
    MetricBatch.objects.create(
        attempt=attempt, journal=journal, rank=0, first_seq=batch.first_seq, num_records=len(steps),
        num_points=len(steps), min_step=steps.min(), max_step=steps.max(),
        received_at=timezone.now(), payload=tail.payload_of(batch),
    )  # fmt: skip
    journal.acked_seq += len(steps)
    journal.save()
    Attempt.objects.filter(pk=attempt.pk).update(step=steps.max())


def calm(first: int, last: int) -> dict[int, float]:
    return {step: 3.0 - 0.001 * step for step in range(first, last + 1)}


def state_of(checkpoint) -> str:
    checkpoint.refresh_from_db()
    return checkpoint.state


def test_a_healthy_stretch_makes_it_stable_and_the_run_says_so():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 120))
    assert stability.judge_verified() == 0
    log(checkpoint.attempt, calm(121, 150))
    assert stability.judge_verified() == 1
    assert state_of(checkpoint) == State.STABLE
    checkpoint.run.refresh_from_db()
    assert checkpoint.run.checkpoint_state == "stable"
    message = Event.objects.filter(run=checkpoint.run).latest("pk").message
    assert message.startswith("Checkpoint of step 100 is stable. The loss stayed healthy")


@pytest.mark.parametrize("bad", [math.nan, math.inf, 9.0])
def test_a_loss_that_breaks_leaves_it_verified_with_the_reason(bad: float):
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 160) | {130: bad})
    assert stability.judge_verified() == 0
    assert state_of(checkpoint) == State.VERIFIED
    assert "at step 130" in checkpoint.judgement


def test_what_was_judged_is_not_read_again_until_an_attempt_begins_from_it():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 160) | {130: math.nan})
    stability.judge_verified()
    assert list(stability._due()) == []
    end(checkpoint.attempt)
    attempt = make_attempt(run=checkpoint.run)
    begin(attempt, checkpoint)
    log(attempt, calm(101, 170))
    assert stability.judge_verified() == 1
    assert state_of(checkpoint) == State.STABLE


def test_only_verified_ones_are_judged():
    for state in ("complete", "damaged", "failed"):
        checkpoint = make_checkpoint(step=100, state=state)
        log(checkpoint.attempt, calm(1, 200))
    assert stability.judge_verified() == 0


def test_a_run_that_logs_its_loss_under_the_other_name_counts_too():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 150), name="loss")
    assert stability.judge_verified() == 1


def test_without_any_loss_it_stays_verified():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 200), name="lr")
    assert stability.judge_verified() == 0
    assert state_of(checkpoint) == State.VERIFIED


def test_a_run_that_took_its_weights_alone_says_nothing_of_it():
    checkpoint = make_checkpoint(step=100)
    end(checkpoint.attempt)
    begin(other := make_attempt(), checkpoint, takes="weights")
    log(other, calm(101, 200))
    assert stability.judge_verified() == 0
    assert state_of(checkpoint) == State.VERIFIED


def test_runs_that_log_no_loss_keep_no_other_from_its_turn(monkeypatch):
    monkeypatch.setattr(stability, "_A_SWEEP", 2)
    for _ in range(3):
        log(make_checkpoint(step=100).attempt, calm(1, 200), name="lr")
    healthy = make_checkpoint(step=100)
    log(healthy.attempt, calm(1, 150))
    for _ in range(4):
        stability.judge_verified()
    assert state_of(healthy) == State.STABLE


def test_points_that_cannot_be_read_keep_no_other_from_its_turn(monkeypatch):
    bad, healthy = make_checkpoint(step=100), make_checkpoint(step=100)
    for one in (bad, healthy):
        log(one.attempt, calm(1, 150))
    read = stability._loss

    def loss(attempt_id: int, step: int):
        if attempt_id == bad.attempt_id:
            raise ValueError("not a chunk")
        return read(attempt_id, step)

    monkeypatch.setattr(stability, "_loss", loss)
    assert stability.judge_verified() == 1
    assert state_of(healthy) == State.STABLE


def test_once_no_loss_can_come_any_more_it_is_not_read_again():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 599), name="lr")
    stability.judge_verified()
    assert list(stability._due()) == [checkpoint]
    log(checkpoint.attempt, calm(600, 600), name="lr")
    stability.judge_verified()
    assert list(stability._due()) == []
    assert state_of(checkpoint) == State.VERIFIED
    assert checkpoint.judgement == "0 points of loss follow; 50 steps are needed."


def test_an_ended_attempt_may_still_send_its_loss_for_a_day():
    checkpoint = make_checkpoint(step=100)
    log(checkpoint.attempt, calm(1, 200), name="lr")
    end(checkpoint.attempt)
    stability.judge_verified()
    assert list(stability._due()) == [checkpoint]
    checkpoint.attempt.ended_at -= timedelta(days=2)
    checkpoint.attempt.save(update_fields=["ended_at"])
    stability.judge_verified()
    assert list(stability._due()) == []
