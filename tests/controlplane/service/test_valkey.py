"""The embedded Valkey: private, quick to come back, and without memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from controlplane.service import places
from controlplane.service.valkey import Valkey, ValkeyError, answers


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    made = Valkey(tmp_path)
    made.start()
    yield made
    made.stop()


def test_it_answers_on_its_socket_and_on_no_port(server: Valkey):
    with redis.Redis.from_url(server.url()) as client:
        assert client.config_get("port") == {"port": "0"}
    assert places.valkey_socket(server.home).stat().st_mode & 0o077 == 0


def test_it_comes_back_after_a_sigkill_with_its_socket_left_over(server: Valkey):
    server.child.kill()
    server.child.wait()
    assert not answers(server.url())
    server.start()
    assert answers(server.url())


def test_a_server_that_cannot_start_says_what_to_do(tmp_path: Path):
    places.valkey_socket(tmp_path).mkdir(parents=True)
    with pytest.raises(ValkeyError, match="did not start") as told:
        Valkey(tmp_path).start()
    assert "REDIS_URL" in told.value.hint


def test_celery_spells_the_socket_in_its_own_way(tmp_path: Path):
    url = places.redis_url(tmp_path, database=3)
    socket = places.valkey_socket(tmp_path)
    assert places.broker_url(url) == f"redis+socket://{socket}?virtual_host=3"
    assert places.broker_url("redis://h:1/0") == "redis://h:1/0"
