"""A server that takes connections and says nothing must not take the time of the workers with it."""

import json
import socket
import time
from datetime import UTC, datetime

import pytest

from controlplane.common import encryption
from runs.models import Cluster
from tests.factories import make_user
from tests.fakes.kube import answers
from tests.workers.kube.connecting import kube_of
from tests.workers.kube.test_objects import PLACE
from workers import clusters
from workers.kube import api, recent
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.errors import KubeError
from workers.kube.recent import Recent


@pytest.fixture
def silent():
    """The address of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def look(looking: Recent) -> float:
    """Return how long a look took that failed."""
    began = time.monotonic()
    with pytest.raises(KubeError):
        looking.snapshot()
    return time.monotonic() - began


def test_only_the_first_look_waits_for_a_whole_time_out(silent, monkeypatch):
    monkeypatch.setattr(api, "READ_SECONDS", 0.6)
    monkeypatch.setattr(api, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.01)
    looking = Recent(Kube(Credentials(url=silent, token="t")), PLACE, lambda: datetime.now(UTC))
    assert look(looking) >= 0.5
    assert look(looking) < 0.05, "it is asked again at once"
    time.sleep(0.06)
    assert look(looking) < 0.4


def test_a_trouble_is_remembered_as_long_as_the_look_took(silent, monkeypatch):
    monkeypatch.setattr(api, "READ_SECONDS", 0.3)
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 1.0)
    monkeypatch.setattr(recent, "TROUBLE_SNAPSHOTS", 0)
    looking = Recent(Kube(Credentials(url=silent, token="t")), PLACE, lambda: datetime.now(UTC))
    look(looking)
    assert look(looking) < 0.05


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
    held = encryption.encrypt(json.dumps({"url": silent, "token": "t"}))
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
    assert time.monotonic() - began < 1
    made.refresh_from_db()
    assert made.state == "unreachable"
