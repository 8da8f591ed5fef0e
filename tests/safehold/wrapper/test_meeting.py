from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from safehold.wrapper import meeting
from safehold.wrapper.meeting import Meeting, NoMeeting
from safehold.wrapper.options import Options
from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until


def node(rank: int, endpoint: str = "pod-0.nowhere.invalid:29500", **changes: float) -> Meeting:
    options = Options(
        folder=Path("/x"), command=("true",), num_nodes=2, node_rank=rank, endpoint=endpoint,
        **changes,  # type: ignore[arg-type]
    )  # fmt: skip
    return Meeting(options, os.environ | {"SAFEHOLD_POD_IP": "127.0.0.1"})


def agreed(node: Meeting) -> str:
    return node.agree(is_over=lambda: False)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "ASK_SECONDS", 0.02)
    monkeypatch.setattr(meeting, "PATIENCE_SECONDS", 0.1)


@pytest.fixture
def served(server: IngestServer, monkeypatch: pytest.MonkeyPatch) -> IngestServer:
    monkeypatch.setenv("SAFEHOLD_URL", server.url)
    monkeypatch.setenv("SAFEHOLD_TOKEN", server.token)
    return server


@pytest.fixture
def listener() -> socket.socket:
    with socket.create_server(("127.0.0.1", 0)) as found:
        yield found


def test_one_node_meets_nobody() -> None:
    alone = Options(folder=Path("/x"), command=("true",))
    assert agreed(Meeting(alone, {})) == ""


def test_nodes_meet_through_the_control_plane_where_names_do_not_resolve(
    served: IngestServer,
) -> None:
    first, told = node(0), []
    other = threading.Thread(target=lambda: told.append(agreed(node(1))))
    other.start()
    place = agreed(first)
    assert place.startswith("127.0.0.1:")
    assert other.is_alive()
    first.publish()
    other.join(20)
    assert told == [place]


def test_node_0_goes_on_telling_until_the_control_plane_is_back(served: IngestServer) -> None:
    served.away = "503"
    first = node(0)
    place = agreed(first)
    first.publish()
    served.away = None
    wait_until(lambda: served.held.rendezvous, 20)
    assert agreed(node(1)) == place


@pytest.mark.parametrize("fault", ["503", "403", "lose_request"])
def test_nodes_meet_by_name_where_the_control_plane_says_nothing(
    served: IngestServer, listener: socket.socket, fault: str
) -> None:
    served.away = fault  # type: ignore[assignment]
    place = f"localhost:{listener.getsockname()[1]}"
    assert agreed(node(1, place)) == place


def test_nodes_meet_by_name_without_a_control_plane(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAFEHOLD_URL", raising=False)
    place = f"localhost:{listener.getsockname()[1]}"
    assert agreed(node(1, place)) == place


def test_a_port_in_use_is_left_to_whoever_has_it(listener: socket.socket) -> None:
    wanted = listener.getsockname()[1]
    assert agreed(node(0, f"pod-0:{wanted}")) != f"127.0.0.1:{wanted}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    assert agreed(node(0, f"pod-0:{free}")) == f"127.0.0.1:{free}"


def test_an_address_that_is_not_ours_is_not_told() -> None:
    options = Options(
        folder=Path("/x"), command=("true",), num_nodes=2, endpoint="pod-0:29500"
    )  # fmt: skip
    elsewhere = {"SAFEHOLD_POD_IP": "192.0.2.7", "SAFEHOLD_URL": "http://127.0.0.1:8000"}
    assert agreed(Meeting(options, elsewhere)).startswith("127.0.0.1:")


def test_nodes_that_do_not_meet_in_time_say_why(
    served: IngestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoMeeting, match=r"did not learn from the control plane .* within 0 s"):
        agreed(node(1, meet_seconds=0.3))
    monkeypatch.delenv("SAFEHOLD_URL")
    with pytest.raises(NoMeeting, match="no control plane is named"):
        agreed(node(1, meet_seconds=0.1))


def test_who_is_asked_to_stop_waits_no_longer(served: IngestServer) -> None:
    with pytest.raises(NoMeeting, match="asked to stop before its ranks began"):
        node(1).agree(is_over=lambda: True)
