"""Valkey dies, and with it the broker, the cache and the live channel: rows stay the truth."""

import httpx
import pytest

from tests.e2e.training import launch, launched
from tests.live_service import LiveService
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(28)]


def come_back(service: LiveService) -> None:
    """Start Valkey; a worker that ends over its loss is started again, as `safehold up` does."""
    service.valkey.start()

    def is_ready() -> bool:
        for name, process in list(service.processes.items()):
            if process.poll() is not None:
                service.start_process(name)
        try:
            return httpx.get(f"{service.url}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    wait_until(is_ready, 60, "the service never came back", every=0.2)


def test_training_and_its_points_outlive_valkey(live_service: LiveService):
    training = launched(live_service)
    workload = training.the_workload()
    live_service.kill("valkey")
    training.wait_steps(150)

    come_back(live_service)

    training.wait_shown("running")
    assert training.the_workload() == workload
    assert training.attempt.number == 1
    training.finish()


def test_stop_asked_while_the_broker_was_down_is_not_lost(live_service: LiveService):
    training = launched(live_service)
    live_service.kill("valkey")

    training.stop()
    come_back(live_service)

    training.wait_shown("stopped")
    training.wait_stored()
    training.assert_nothing_lost_or_doubled()
    assert training.workloads() == []


def test_launch_asked_while_the_broker_was_down_is_one_workload(live_service: LiveService):
    live_service.kill("valkey")

    training = launch(live_service)
    come_back(live_service)

    training.wait_shown("running", 60)
    training.wait_steps(20)
    training.the_workload()
    training.finish()


def test_trainer_that_died_meanwhile_is_told(live_service: LiveService):
    training = launched(live_service)
    live_service.kill("valkey")
    training.kill_trainer()

    come_back(live_service)

    assert "signal 9" in training.wait_shown("failed").why
    training.wait_stored()
    training.assert_nothing_lost_or_doubled()
