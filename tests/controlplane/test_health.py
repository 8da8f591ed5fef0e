"""/healthz and /readyz tell the truth."""

import time
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client

from controlplane import presence
from controlplane.service.valkey import Valkey


@pytest.fixture
def a_worker_was_seen(valkey_server: Valkey):
    presence.record_worker()
    yield
    cache.delete(presence.KEY)


def test_healthz_asks_nobody(client: Client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_ready_when_every_part_answers(client: Client, a_worker_was_seen: None):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    assert set(answer.json()["checks"]) == {"database", "redis", "migrations", "worker"}


@pytest.mark.django_db
def test_not_ready_before_a_worker_was_seen(client: Client):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"]["detail"] == "No worker was seen yet."


@pytest.mark.django_db
def test_not_ready_when_the_worker_went_away(client: Client, a_worker_was_seen: None):
    cache.set(presence.KEY, time.time() - 40)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "No worker was seen for 4" in answer.json()["checks"]["worker"]["detail"]


@pytest.fixture
def without_redis(valkey_server: Valkey) -> Iterator[None]:
    valkey_server.stop()
    yield
    valkey_server.start()


@pytest.mark.django_db
def test_not_ready_without_redis(client: Client, without_redis: None):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["redis"]["ok"] is False
    assert answer.json()["checks"]["database"]["ok"] is True


@pytest.mark.django_db
def test_the_web_part_is_ready_without_worker_and_redis(client: Client, without_redis: None):
    answer = client.get("/readyz?part=web")
    assert answer.status_code == 200
    assert set(answer.json()["checks"]) == {"database", "migrations"}


def test_an_unknown_part_is_refused(client: Client):
    answer = client.get("/readyz?part=webb")
    assert (answer.status_code, "known: web" in answer.json()["detail"]) == (400, True)
