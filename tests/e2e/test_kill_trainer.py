"""A trainer that dies: the run says so, with rank and signal, and offers what can be done."""

import os
import signal

import pytest

from runs.services import runs
from tests.e2e.training import launched
from tests.live_service import LiveService

pytestmark = pytest.mark.e2e


def test_killed_trainer_is_failed_with_its_signal_and_can_be_resumed(
    live_service_module: LiveService,
):
    training = launched(live_service_module)
    training.kill_trainer()

    shown = training.wait_shown("failed")

    assert "Rank 0 was ended by signal 9 (SIGKILL)" in shown.why
    assert "resume" in shown.acts
    assert training.workloads() == []
    first = training.attempt
    training.wait_stored()
    training.assert_nothing_lost_or_doubled()

    runs.request_resume(run=training.run, user=training.user)

    training.wait_shown("running")
    training.wait_steps(20)
    assert training.attempt.number == first.number + 1
    training.the_workload()
    training.finish()
    training.assert_nothing_lost_or_doubled(first)


def test_killed_wrapper_takes_the_training_with_it_and_is_lost(live_service_module: LiveService):
    training = launched(live_service_module)
    os.kill(training.attempt.handle["pid"], signal.SIGKILL)

    shown = training.wait_shown("lost")

    assert "without leaving an exit record" in shown.why
    assert training.workloads() == []
    # The end is the last sign of life, however late somebody looked.
    attempt = training.attempt
    assert attempt.ended_at == attempt.last_seen_at


def test_forced_stop_ends_a_trainer_that_hears_nothing(live_service_module: LiveService):
    training = launched(live_service_module)
    os.kill(training.the_workload().pid, signal.SIGSTOP)

    runs.request_stop(run=training.run, user=training.user, force=True)

    assert training.wait_shown("stopped").why
    assert training.workloads() == []


def test_finished_training_is_finished(live_service_module: LiveService):
    training = launched(live_service_module, steps=200)

    training.wait_shown("finished")

    training.wait_stored()
    training.assert_nothing_lost_or_doubled()
    assert len(training.told()) == 200


def test_pause_holds_and_resume_goes_on(live_service_module: LiveService):
    training = launched(live_service_module)
    runs.request_pause(run=training.run, user=training.user)
    training.wait_shown("paused")
    steps = len(training.told())
    training.the_workload()

    runs.request_resume(run=training.run, user=training.user)

    training.wait_shown("running")
    training.wait_steps(20)
    assert training.attempt.number == 1
    told = training.told()
    assert told == list(range(1, len(told) + 1))
    assert len(told) > steps
    training.finish()
