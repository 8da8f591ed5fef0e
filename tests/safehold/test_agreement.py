from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from safehold import wire
from safehold.statusfile import read_status
from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until

pytest.importorskip("torch")
pytestmark = pytest.mark.slow(12)


@contextmanager
def two_ranks(folder: Path, environ: dict[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    command = [sys.executable, "-m", "tests.safehold.scripts.together", str(folder)]
    ranks = [
        subprocess.Popen(
            command, env=os.environ | environ | shared | {"RANK": str(rank), "OMP_NUM_THREADS": "1"}
        )
        for rank in range(2)
    ]
    try:
        wait_until(lambda: (folder / "ready-1").exists() and (folder / "ready-0").exists(), 60)
        yield ranks
    finally:
        for process in ranks:
            process.kill()
            process.wait()


def saved(folder: Path, rank: int) -> list[int]:
    path = folder / f"saved-{rank}"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_all_ranks_save_pause_resume_and_stop_at_the_same_steps(
    tmp_path: Path, environ: dict[str, str], server: IngestServer
) -> None:
    with two_ranks(tmp_path, environ) as ranks:
        for number, kind in enumerate(["save", "pause", "resume", "save_and_stop"], start=1):
            server.held.commands.append(wire.Command(number, kind))  # type: ignore[arg-type]
            wait_until(lambda n=number: len(server.held.applied) == n, 20)
        assert [process.wait(20) for process in ranks] == [0, 0]
    assert [applied.outcome for applied in server.held.applied] == ["applied"] * 4
    assert saved(tmp_path, 0) == saved(tmp_path, 1)
    assert len(saved(tmp_path, 0)) == 3
    folder = Path(environ["SAFEHOLD_DIR"])
    assert [read_status(folder, rank) for rank in range(2)] == ["stopped", "stopped"]


def test_a_signal_to_one_rank_stops_all_of_them_at_the_same_step(
    tmp_path: Path, environ: dict[str, str], server: IngestServer
) -> None:
    with two_ranks(tmp_path, environ) as ranks:
        ranks[1].send_signal(signal.SIGTERM)
        assert [process.wait(20) for process in ranks] == [0, 0]
    assert saved(tmp_path, 0) == saved(tmp_path, 1)
    assert len(saved(tmp_path, 0)) == 1
    assert (tmp_path / "ended-0").read_text() == (tmp_path / "ended-1").read_text()


def test_the_death_of_a_rank_hangs_no_other(
    tmp_path: Path, environ: dict[str, str], server: IngestServer
) -> None:
    with two_ranks(tmp_path, environ) as ranks:
        ranks[1].kill()
        assert ranks[0].wait(20) != 0
    assert read_status(Path(environ["SAFEHOLD_DIR"]), 0) is None
