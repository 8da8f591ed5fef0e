"""The web server dies: trainings neither notice nor lose a point."""

import pytest

from tests.e2e.training import launched
from tests.live_service import LiveService
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(45)]


def test_killed_server_loses_no_point_and_doubles_none(live_service: LiveService):
    training = launched(live_service, step_seconds=0.002)

    for _ in range(3):
        live_service.kill("web")
        training.wait_steps(50)
        live_service.start_process("web")
        live_service.wait_ready()
        training.wait_steps(200)

    training.wait_shown("running")
    training.finish()


def test_stop_asked_while_the_server_was_down_needs_no_server(live_service: LiveService):
    """The command cannot reach the trainer, the launcher's signal can."""
    training = launched(live_service)
    live_service.kill("web")

    training.stop()

    wait_until(lambda: training.attempt.state == "ended", 60, training.report)
    assert training.attempt.outcome == "stopped"
    assert training.workloads() == []
    live_service.start_process("web")
    live_service.wait_ready()
    training.wait_stored()
    training.assert_nothing_lost_or_doubled()
