from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from safehold.outbox import Outbox, Postman
from safehold.transport import Transport, Unreachable
from tests.fakes.ingest_server import IngestServer


def test_the_order_is_kept_when_the_clock_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([5_000, 5_000, 3_000, 1_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(clock))
    outbox = Outbox(tmp_path / "outbox")
    put = [outbox.put({"step": 1}), outbox.put({"step": 2}), outbox.put({"step": 3})]
    put.append(Outbox(tmp_path / "outbox").put({"step": 4}))  # as after a restart
    assert outbox.waiting() == put


def test_a_registration_that_was_put_outlives_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    path = Outbox(tmp_path / "outbox").put({"step": 1})
    assert synced == [str(tmp_path), f"{path}.part", str(path.parent)]


def test_a_registration_that_the_disk_refuses_is_delivered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: IngestServer
) -> None:
    """A save that a full disk of the pod kept from the registry would never be resumed from."""
    transport = Transport(server.url, server.token)
    outbox = Outbox(tmp_path / "outbox")
    outbox.put({"step": 1})
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        for step in (2, 3):
            with pytest.raises(OSError, match="No space"):
                outbox.put({"step": step})
    server.faults.extend(["ok", "503"])
    with pytest.raises(Unreachable):
        outbox.deliver(transport)
    server.faults.append("400")
    assert not outbox.is_empty
    assert outbox.deliver(transport) == 1
    assert outbox.is_empty
    assert [item["step"] for item in server.held.registrations] == [1, 3]
    transport.close()


def refuse(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_what_is_put_while_the_postman_is_out_is_delivered_before_the_end(
    tmp_path: Path, server: IngestServer
) -> None:
    Outbox(tmp_path).put({"step": 1})
    is_out, closing = threading.Event(), threading.Event()

    class Slow(Outbox):
        def waiting(self) -> list[Path]:
            found = super().waiting()
            if threading.current_thread().name == "safehold-postman":
                is_out.set()
                assert closing.wait(10)
            return found

    outbox = Slow(tmp_path)
    postman = Postman(outbox, Transport(server.url, server.token))
    postman.start()
    assert is_out.wait(10)
    outbox.put({"step": 2})
    threading.Timer(0.1, closing.set).start()
    assert postman.close(10)
    assert [item["step"] for item in server.held.registrations] == [1, 2]
