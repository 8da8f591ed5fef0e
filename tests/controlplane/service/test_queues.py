"""What reads for long never holds up a launch or a sweep, and every queue has a reader."""

import pytest
from celery import current_app
from django.conf import settings
from django.core.cache import cache

from controlplane import presence
from controlplane.service import commands
from controlplane.service.valkey import Valkey
from tests.helm.conftest import CHART, rendered


def queue_of(task: str) -> str:
    return current_app.amqp.router.route({}, task)["queue"].name  # type: ignore[no-any-return]


def queues_of(command: list[str]) -> list[str]:
    return command[command.index("--queues") + 1].split(",")


@pytest.mark.parametrize("task", ["workers.verify", "workers.preflight"])
def test_long_reading_has_a_worker_of_its_own(task: str) -> None:
    assert queue_of(task) in queues_of(commands.verifier(1))
    assert queue_of(task) not in queues_of(commands.worker(1))


@pytest.mark.parametrize("task", ["workers.reconcile", "workers.sweep", "workers.survey_cluster"])
def test_launches_and_sweeps_wait_for_none_of_it(task: str) -> None:
    assert queue_of(task) in queues_of(commands.worker(1))


def test_every_queue_is_read_here_and_by_the_chart() -> None:
    named = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()} | {"celery"}
    here = {*queues_of(commands.worker(1)), *queues_of(commands.verifier(1))}
    assert here == named
    import helm_python

    deployed = [
        item["spec"]["template"]["spec"]["containers"][0]["command"]
        for item in rendered(helm_python.Chart.load(CHART), {})
        if item["kind"] == "Deployment"
    ]
    assert {q for command in deployed if "--queues" in command for q in queues_of(command)} == named


def test_a_verifier_does_not_stand_for_the_worker(valkey_server: Valkey) -> None:
    class Heart:
        def __init__(self, hostname: str) -> None:
            self.eventer = type("Eventer", (), {"hostname": hostname})()

    cache.delete(presence.KEY)
    presence.record_worker(sender=Heart("verifier@here"))
    assert presence.seconds_since_worker() is None
    presence.record_worker(sender=Heart("main@here"))
    assert presence.seconds_since_worker() is not None
