"""A minute without a server: training neither notices nor loses a point."""

import pytest

from tests.e2e.training import launched
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.slow(90)]
# At 20 ms a step, a minute.
STEPS_WITHOUT_A_SERVER = 3000


def test_training_goes_on_for_a_minute_without_a_server(live_service: LiveService):
    training = launched(live_service)
    workload = training.the_workload()
    live_service.kill("web")

    # The workload is seen to run, its trainer is not heard: that is neither running nor failed.
    training.wait_shown("contact_lost")
    training.wait_steps(STEPS_WITHOUT_A_SERVER, 180)
    assert training.the_workload() == workload
    live_service.start_process("web")
    live_service.wait_ready()

    training.wait_shown("running")
    training.wait_stored()
    training.finish()
    assert len(training.told()) > STEPS_WITHOUT_A_SERVER
    assert training.attempt.number == 1
