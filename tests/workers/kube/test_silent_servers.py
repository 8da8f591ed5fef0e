"""A server that takes connections and says nothing must not take the time of the workers with it."""

import contextlib
import json
import socket
import time
from datetime import UTC, datetime

import pytest

from controlplane.common import encryption
from runs.models import Cluster
from tests.factories import make_user
from tests.fakes.kube import answers
from tests.waiting import wait_until
from tests.workers.kube.connecting import kube_of
from tests.workers.kube.test_objects import PLACE
from workers import clusters
from workers.kube import api, recent
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.errors import KubeError
from workers.kube.recent import Recent


class Silent:
    """A server that never answers, and counts who asks."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._held: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{server.getsockname()[1]}"
        server.setblocking(False)

    @property
    def num_asked(self) -> int:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._held.append(self._server.accept()[0])
        return len(self._held)

    def close(self) -> None:
        for connection in self._held:
            connection.close()


@pytest.fixture
def silent():
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Silent(server)
        yield found
        found.close()


def look(looking: Recent) -> float:
    """Return how long a look took that failed."""
    began = time.monotonic()
    with pytest.raises(KubeError):
        looking.snapshot()
    return time.monotonic() - began


def test_only_the_first_look_waits_for_a_whole_time_out(silent, monkeypatch):
    monkeypatch.setattr(api, "READ_SECONDS", 1.5)
    monkeypatch.setattr(api, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.01)
    looking = Recent(Kube(Credentials(url=silent.url, token="t")), PLACE, lambda: datetime.now(UTC))
    assert look(looking) >= 1.5
    asked, took = silent.num_asked, [0.0]
    wait_until(lambda: took.append(look(looking)) or silent.num_asked > asked)
    assert took[-1] < 1, "the next one waits as long"


def test_a_trouble_is_remembered_as_long_as_the_look_took(silent, monkeypatch):
    monkeypatch.setattr(api, "READ_SECONDS", 0.3)
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 100.0)
    monkeypatch.setattr(recent, "TROUBLE_SNAPSHOTS", 0)
    looking = Recent(Kube(Credentials(url=silent.url, token="t")), PLACE, lambda: datetime.now(UTC))
    look(looking)
    asked = silent.num_asked
    look(looking)
    assert silent.num_asked == asked


def test_a_server_that_tells_no_version_is_looked_at_all_the_same(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    looking = Recent(kube_of(cluster, tmp_path), PLACE, lambda: datetime.now(UTC))
    cluster.server.stop()
    look(looking)
    cluster.server.start()
    refused = answers.status(403, "Forbidden", "no version for you")
    cluster.fail(lambda r: r.path == "/version", before=refused)
    assert looking.snapshot().jobs == {}


@pytest.mark.django_db
def test_a_survey_of_it_is_short_and_tells(silent, monkeypatch):
    monkeypatch.setattr(api, "READ_SECONDS", 5.0)
    monkeypatch.setattr(api, "PROBE_SECONDS", 0.05)
    held = encryption.encrypt(json.dumps({"url": silent.url, "token": "t"}))
    made = Cluster.objects.create(
        name="lab",
        namespace="team",
        way="token",
        image="i",
        credentials=held,
        created_by=make_user(),
    )
    began = time.monotonic()
    clusters.look_at(made)
    assert time.monotonic() - began < 4
    made.refresh_from_db()
    assert made.state == "unreachable"
