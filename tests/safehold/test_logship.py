from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from safehold.logship import PIECE_BYTES, LogShipper, ship_all
from safehold.transport import Transport, Unreachable
from tests.fakes.ingest_server import IngestServer


@pytest.fixture
def shipper(tmp_path: Path, server: IngestServer) -> Iterator[LogShipper]:
    transport = Transport(server.url, server.token)
    yield LogShipper(tmp_path, transport)
    transport.close()


def soon() -> float:
    return time.monotonic() + 20


def test_logs_arrive_as_they_are_whatever_bytes_they_hold(
    shipper: LogShipper, tmp_path: Path, server: IngestServer
) -> None:
    data = bytes(range(256)) * (2 * PIECE_BYTES // 256) + b"end"
    (tmp_path / "rank-0.log").write_bytes(data)
    (tmp_path / "wrapper.log").write_bytes(b"began\n")
    assert ship_all(shipper, soon())
    assert server.held.logs == {"rank-0": data, "wrapper": b"began\n"}
    with (tmp_path / "rank-0.log").open("ab") as file:
        file.write(b" and more")
    assert ship_all(shipper, soon())
    assert server.held.logs["rank-0"] == data + b" and more"


def test_a_lost_answer_repeats_nothing(
    shipper: LogShipper, tmp_path: Path, server: IngestServer
) -> None:
    (tmp_path / "rank-0.log").write_bytes(b"one\n")
    server.faults.append("lose_answer")
    with pytest.raises(Unreachable):
        shipper.ship()
    (tmp_path / "rank-0.log").write_bytes(b"one\ntwo\n")
    assert ship_all(shipper, soon())
    assert server.held.logs["rank-0"] == b"one\ntwo\n"


def test_a_later_start_goes_on_where_the_server_is(
    shipper: LogShipper, tmp_path: Path, server: IngestServer
) -> None:
    (tmp_path / "rank-0.log").write_bytes(b"one\ntwo\n")
    server.held.logs["rank-0"] = b"one\n"
    assert ship_all(shipper, soon())
    assert server.held.logs["rank-0"] == b"one\ntwo\n"


def test_a_server_that_lost_its_log_is_told_again(
    shipper: LogShipper, tmp_path: Path, server: IngestServer
) -> None:
    (tmp_path / "rank-0.log").write_bytes(b"one\n")
    assert ship_all(shipper, soon())
    server.held.logs.clear()
    (tmp_path / "rank-0.log").write_bytes(b"one\ntwo\n")
    assert ship_all(shipper, soon())
    assert server.held.logs["rank-0"] == b"one\ntwo\n"


def test_a_server_that_is_away_ends_the_shipping_in_time(
    shipper: LogShipper, tmp_path: Path, server: IngestServer
) -> None:
    server.away = "503"
    (tmp_path / "rank-0.log").write_bytes(b"one\n")
    assert not ship_all(shipper, time.monotonic() + 0.3)
