from __future__ import annotations

import struct
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safehold import wire
from safehold.client import Client
from safehold.journal import Journal, Reader, pack_record
from safehold.replay import replay
from safehold.sending import Sender
from safehold.transport import Denied, Rejected, Transport, Unreachable, wait_seconds
from tests.fakes.ingest_server import Fault, IngestServer, ingest_server
from tests.waiting import wait_until

Make = Callable[..., Client]


def point(step: int) -> bytes:
    values = struct.pack("<2d", step / 2, float("nan"))
    return pack_record(step=step, tokens=-1, at_ms=step, names="loss\nnan", values=values)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal", 0, segment_bytes=2000)
    yield made
    made.close()


@pytest.fixture
def transport(server: IngestServer) -> Iterator[Transport]:
    made = Transport(server.url, server.token)
    yield made
    made.close()


@pytest.fixture
def client(journal: Journal, transport: Transport) -> Iterator[Client]:
    made = Client(
        journal,
        transport,
        lambda: wire.Heartbeat(1, journal.last_seq, -1, "training"),
        flush_seconds=0.01,
        heartbeat_seconds=0.2,
    )
    yield made
    made.close(1.0)


def test_records_arrive_whole_and_once(
    client: Client, journal: Journal, server: IngestServer
) -> None:
    client.start()
    for step in range(500):
        journal.append(point(step))
    assert client.close(5.0)
    assert server.steps() == list(range(500))
    assert server.values("loss") == [step / 2 for step in range(500)]
    assert server.held.num_requests < 100


def test_a_heartbeat_goes_without_records(client: Client, server: IngestServer) -> None:
    client.start()
    wait_until(lambda: len(server.held.heartbeats) >= 3)
    assert server.held.heartbeats[0].phase == "training"


def test_a_thread_told_not_to_wait_takes_no_core(journal: Journal, transport: Transport) -> None:
    looks = 0

    def beat() -> wire.Heartbeat:
        nonlocal looks
        looks += 1
        return wire.Heartbeat(1, 0, -1, "training")

    client = Client(journal, transport, beat, flush_seconds=0.0)
    began = time.monotonic()
    client.start()
    wait_until(lambda: looks >= 50)
    assert time.monotonic() - began > 0.1
    client.close(1.0)


def test_a_log_call_is_at_the_server_within_a_moment(
    client: Client, journal: Journal, server: IngestServer
) -> None:
    client.start()
    wait_until(lambda: server.held.heartbeats)
    began = time.monotonic()
    journal.append(point(1))
    wait_until(lambda: server.held.records, every=0.005)
    assert time.monotonic() - began < 0.5


def test_an_outage_loses_nothing_and_ends_in_few_big_batches(
    client: Client, journal: Journal, server: IngestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("safehold.client.wait_seconds", lambda *_: 0.05)
    server.away = "503"
    client.start()
    for step in range(3000):
        journal.append(point(step))
    wait_until(lambda: client.failures > 2)
    before = server.held.num_requests
    server.away = None
    wait_until(lambda: client.acked == 3000)
    assert server.steps() == list(range(3000))
    assert server.held.num_requests - before <= 10


def test_a_server_that_lost_its_memory_is_told_again_what_is_left(
    client: Client, journal: Journal, server: IngestServer
) -> None:
    client.start()
    for step in range(20):
        journal.append(point(step))
    wait_until(lambda: client.acked == 20)
    with server.lock:
        server.held.acked[journal.id] = 7
        server.held.records.clear()
    journal.append(point(20))
    wait_until(lambda: client.acked == 21)
    assert server.steps() == list(range(7, 21))


def test_records_that_no_longer_exist_do_not_hold_up_the_others(
    client: Client, journal: Journal, server: IngestServer
) -> None:
    client.start()
    for step in range(200):
        journal.append(point(step))
    wait_until(lambda: client.acked == 200)
    with server.lock:
        server.held.acked.clear()
        server.held.records.clear()
    journal.append(point(200))
    wait_until(lambda: client.acked == 201)
    assert len(server.held.records) == 201
    assert "are lost" in server.events("message")[0]["text"]
    assert server.steps()[-1] == 200


def test_a_command_arrives_once_and_its_report_ends_it(
    client: Client, journal: Journal, server: IngestServer
) -> None:
    server.held.commands.append(wire.Command(5, "save"))
    client.start()
    command = wait_until(lambda: client.inbox.take("save"))
    wait_until(lambda: len(server.held.heartbeats) > 3)
    assert client.inbox.peek() is None
    client.inbox.applied(command, "done")
    wait_until(lambda: server.held.applied)
    assert server.held.applied[0] == wire.Applied(5, "applied", "done")
    wait_until(lambda: not client.inbox.reports())


@pytest.mark.parametrize("fault", ["401", "403"])
def test_an_ended_token_stops_the_sending_and_keeps_the_journal(
    client: Client, journal: Journal, server: IngestServer, fault: Fault
) -> None:
    server.away = fault
    journal.append(point(1))
    client.start()
    wait_until(lambda: client.denied)
    num_requests = server.held.num_requests
    journal.append(point(2))
    assert not client.close(0.5)
    assert server.held.num_requests == num_requests
    assert len(Reader(journal.folder).read().records) == 2


def test_a_denial_that_passes_ends_neither_metrics_nor_commands(
    client: Client, journal: Journal, server: IngestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a proxy that is being restarted: the run goes on for weeks."""
    monkeypatch.setattr("safehold.client.DENIED_SECONDS", 0.2)
    server.held.commands.append(wire.Command(5, "save"))
    server.away = "403"
    journal.append(point(1))
    client.start()
    wait_until(lambda: client.denied)
    server.away = None
    wait_until(lambda: client.acked == 1)
    wait_until(lambda: client.inbox.peek("save"))
    assert not client.denied


def sent(sender: Sender) -> bool:
    try:
        return sender.send() is not None
    except Unreachable:
        return False


@pytest.mark.parametrize("fault", ["413", "400"])
def test_a_refusal_that_passes_costs_nothing(
    journal: Journal, server: IngestServer, transport: Transport, fault: Fault
) -> None:
    server.faults.extend([fault] * 4)
    for step in range(4):
        journal.append(point(step))
    sender = Sender(Reader(journal.folder), transport)
    wait_until(lambda: sent(sender) and sender.acked == 4, every=0)
    assert server.steps() == [0, 1, 2, 3]


def test_a_server_that_refuses_everything_for_a_while_costs_no_record(
    journal: Journal, server: IngestServer, transport: Transport
) -> None:
    server.away = "400"
    for step in range(4):
        journal.append(point(step))
    sender = Sender(Reader(journal.folder), transport)
    for _ in range(40):
        assert not sent(sender)
    server.away = None
    wait_until(lambda: sent(sender) and sender.acked == 4, every=0)
    assert server.steps() == [0, 1, 2, 3]


def test_a_record_that_the_server_cannot_take_is_left_out_alone(
    journal: Journal, server: IngestServer, transport: Transport
) -> None:
    for step in range(9):
        journal.append(point(step))
    journal.append(
        pack_record(step=9, tokens=-1, at_ms=0, names="\n".join("a" * 40), values=bytes(320))
    )
    journal.append(point(10))
    sender = Sender(Reader(journal.folder), transport)
    wait_until(lambda: sent(sender) and sender.acked == 11, every=0)
    assert server.steps() == [*range(9), -1, 10]
    assert "record 10 was refused" in server.events("message")[0]["text"]


class Claiming:
    """A server that holds what it is told to hold."""

    def __init__(self, **answer: Any) -> None:
        self.answer: dict[str, Any] = {"v": 1, **answer}
        self.status = 200

    def post(self, path: str, body: bytes, **_: str) -> dict[str, Any]:
        if self.status != 200:
            raise Rejected(self.status, self.answer)
        return self.answer


def test_no_more_is_believed_to_be_stored_than_was_sent(journal: Journal) -> None:
    for step in range(100):
        journal.append(point(step))
    sender = Sender(Reader(journal.folder), Claiming(acked=10**6))  # type: ignore[arg-type]
    assert sender.send(upto=40) is not None
    assert sender.acked == 40
    assert sender.reader.next_seq == 41


@pytest.mark.parametrize(
    ("status", "acked", "reason"),
    [
        (200, -5, "is not an acknowledgement"),
        (200, True, "is not an acknowledgement"),
        (200, "7", "is not an acknowledgement"),
        (409, 10**6, "asks for record 1000001 instead of 1"),
        (409, -5, "asks for record -4 instead of 1"),
    ],
)
def test_a_mark_that_cannot_be_changes_nothing(
    journal: Journal, status: int, acked: Any, reason: str
) -> None:
    journal.append(point(0))
    server = Claiming(acked=acked)
    server.status = status
    sender = Sender(Reader(journal.folder), server)  # type: ignore[arg-type]
    with pytest.raises(Unreachable, match=reason):
        sender.send()
    server.status, server.answer["acked"] = 200, 1
    assert sender.send() is not None
    assert sender.acked == 1


def test_a_disk_that_cannot_be_read_does_not_silence_the_heartbeat(
    client: Client, journal: Journal, server: IngestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    server.held.commands.append(wire.Command(5, "save"))
    journal.append(point(0))
    with monkeypatch.context() as patch:
        patch.setattr("safehold.journal.reader._read", refuse)
        client.start()
        wait_until(lambda: len(server.held.heartbeats) >= 3)
        wait_until(lambda: client.inbox.peek("save"))
        assert client.failures == 0
        assert server.held.num_requests < 50
    wait_until(lambda: client.acked == 1)
    assert server.steps() == [0]


def test_a_token_is_taken_without_the_line_end_of_its_file(
    journal: Journal, server: IngestServer
) -> None:
    transport = Transport(server.url, f"{server.token}\n")
    assert Sender(Reader(journal.folder), transport).send() is not None
    transport.close()


def test_a_token_that_cannot_be_sent_is_never_quoted(
    journal: Journal, server: IngestServer
) -> None:
    transport = Transport(server.url, "se\ncret")
    with pytest.raises(Unreachable, match="address or token hold what HTTP cannot carry") as caught:
        Sender(Reader(journal.folder), transport).send()
    assert "cret" not in "".join(traceback.format_exception(caught.value))


def test_a_token_that_was_replaced_is_read_anew(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    path = tmp_path / "token"
    path.write_text("token\n")
    transport = Transport(server.url, "old", path)
    sender = Sender(Reader(journal.folder), transport)
    assert sender.send() is not None
    path.unlink()
    server.token = "newer"
    with pytest.raises(Denied, match="401"):
        sender.send()
    transport.close()


def test_a_server_that_came_back_elsewhere_is_found(
    journal: Journal, server: IngestServer, tmp_path: Path
) -> None:
    """As after a `kill -9` of `up` and a next `up` on another port, with another program at the old one."""
    path = tmp_path / "ingest_url"
    with ingest_server() as stranger:
        stranger.token = "of another service"
        client = Client(
            journal,
            Transport(stranger.url, server.token, url_file=path),
            lambda: wire.Heartbeat(1, journal.last_seq, -1, "training"),
            flush_seconds=0.01,
        )
        client.start()
        journal.append(point(0))
        wait_until(lambda: client.denied != "", every=0.01)
        path.write_text("not an address")
        path.write_text(f"{server.url}/\n")
        journal.append(point(1))
        assert client.close(10.0)
    assert server.steps() == [0, 1]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("html", "something that is not ours"),
        ("503", "answered 503"),
        ("lose_answer", "RemoteDisconnected"),
    ],
)
def test_what_may_pass_is_told_apart_from_a_refusal(
    journal: Journal, server: IngestServer, transport: Transport, fault: Fault, reason: str
) -> None:
    server.faults.append(fault)
    sender = Sender(Reader(journal.folder), transport)
    with pytest.raises(Unreachable, match=reason):
        sender.send()
    assert sender.send() is not None


def test_waits_grow_spread_and_stay_bounded() -> None:
    assert 0.1 < wait_seconds(1) <= 0.5
    assert all(5 <= wait_seconds(1000) <= 10 for _ in range(20))
    assert wait_seconds(1, 30.0) == 30.0


def test_a_torn_end_is_told_once_and_goes(
    tmp_path: Path, server: IngestServer, transport: Transport
) -> None:
    life = Life(tmp_path, transport)
    life.append(0, 3)
    life.kill(6)
    server.faults.extend(["ok", "lose_answer", "lose_answer"])
    assert replay(tmp_path, transport, wait=False).left
    assert not replay(tmp_path, transport, wait=False).left
    assert server.steps() == [0, 1, 2, -1]
    assert "last 6 bytes of the journal of rank 0" in server.events("message")[0]["text"]
    assert list((tmp_path / "journal").iterdir()) == []


FAULTS = st.sampled_from(["ok", "lose_request", "lose_answer", "503", "429", "html"])
ACTS = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 30)),
    st.tuples(st.just("send"), FAULTS),
    st.tuples(st.just("kill"), st.integers(0, 2)),
    st.tuples(st.just("replay"), FAULTS),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(ACTS, max_size=25))
def test_whatever_is_lost_on_the_way_each_record_is_stored_once(
    acts: list[tuple[str, int | Fault]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Appends, sends with faults, kills (the journal changes hands, perhaps torn), replays."""
    folder = tmp_path_factory.mktemp("attempt")
    appended: list[int] = []
    with ingest_server() as server:
        transport = Transport(server.url, server.token)
        life = Life(folder, transport)
        for act, how in acts:
            if act == "append":
                appended += life.append(len(appended), int(how))
            elif act == "send":
                server.faults.append(how)  # type: ignore[arg-type]
                life.send()
            elif act == "kill":
                life.kill(int(how))
                life = Life(folder, transport)
            else:
                server.faults.append(how)  # type: ignore[arg-type]
                replay(folder, transport, wait=False)
        server.faults.clear()
        life.kill(0)
        assert not replay(folder, transport).left
        transport.close()
        assert sorted(step for step in server.steps() if step >= 0) == appended
        torn = sum(bool(how) for act, how in acts if act == "kill")
        assert len(server.events("message")) <= torn
        assert not list((folder / "journal").iterdir())


class Life:
    """One process from its start to its death, without the process."""

    def __init__(self, folder: Path, transport: Transport) -> None:
        self._journal = Journal(folder / "journal", 0, segment_bytes=1500)
        self._sender = Sender(Reader(self._journal.folder), transport)

    def append(self, first: int, num: int) -> list[int]:
        steps = list(range(first, first + num))
        assert all(self._journal.append(point(step)) for step in steps)
        return steps

    def send(self) -> None:
        try:
            self._sender.send(upto=self._journal.sync())
        except Unreachable:
            return
        self._journal.forget(self._sender.acked)

    def kill(self, torn_bytes: int) -> None:
        self._journal.close(acked=-1)  # a dead process closes its files and loses its lock
        found = sorted(self._journal.folder.glob("*.segment"))
        if found and torn_bytes:
            with found[-1].open("ab") as file:
                file.write(b"\x09\0\0\0torn"[:torn_bytes])
