from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from safehold.wrapper.linux import descendants, started
from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until


class Wrapped:
    """A wrapper process, as a launcher starts it."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.folder = Path(environ["SAFEHOLD_DIR"])
        self._environ = os.environ | environ | {"OMP_NUM_THREADS": "1"}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, how: str, *options: str) -> Wrapped:
        trainer = [sys.executable, "-m", "tests.safehold.scripts.trainer", how]
        command = [sys.executable, "-m", "safehold.wrapper", "--dir", str(self.folder)]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "stdout").open("wb") as out:
            self.process = subprocess.Popen(
                [*command, *options, "--", *trainer],
                env=self._environ,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def wait(self, timeout: float = 60) -> int:
        assert self.process is not None
        return self.process.wait(timeout)

    def send(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def ready(self, *ranks: int) -> None:
        paths = [self.folder / f"ready-{rank}" for rank in ranks]
        wait_until(lambda: all(path.exists() for path in paths), 60, self.output)

    def output(self) -> str:
        logs = (self.folder / "logs").glob("*.log")
        return "\n".join([(self.folder / "stdout").read_text(), *(p.read_text() for p in logs)])

    @property
    def end(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "exit.json").read_text())
        return found

    def log(self, name: str) -> str:
        return (self.folder / "logs" / f"{name}.log").read_text()


@pytest.fixture
def wrapped(environ: dict[str, str]) -> Iterator[Wrapped]:
    made = Wrapped(environ)
    yield made
    if made.process is not None:
        for pid in [made.process.pid, *descendants(made.process.pid)]:
            if made.process.poll() is None:
                os.kill(pid, signal.SIGKILL)
        made.process.wait()


def test_a_training_that_finishes_is_told_as_finished(
    wrapped: Wrapped, server: IngestServer
) -> None:
    assert wrapped.start("finish").wait() == 0
    assert wrapped.end["outcome"] == "finished"
    assert wrapped.end["ranks"] == {"0": {"exit_code": 0, "signal": None, "error": None}}
    assert server.values("loss") == [float(step) for step in range(1, 51)]
    assert "rank 0 of 1 begins" in wrapped.log("rank-0")
    assert "rank 0 of 1 begins" in (wrapped.folder / "stdout").read_text()
    assert server.held.logs["rank-0"].decode() == wrapped.log("rank-0")
    assert server.held.logs["wrapper"].decode() == wrapped.log("wrapper")
    assert server.held.exits[0]["exit"] == wrapped.end


def test_a_command_without_our_library_is_finished_when_it_returns(wrapped: Wrapped) -> None:
    assert wrapped.start("quick").wait() == 0
    assert wrapped.end["outcome"] == "finished"


@pytest.mark.parametrize(
    ("how", "end", "message"),
    [
        (
            "raise",
            {"exit_code": 1, "signal": None},
            "Rank 0 ended with exit code 1: ValueError: the loss went away",
        ),
        ("exit-7", {"exit_code": 7, "signal": None}, "Rank 0 ended with exit code 7"),
        ("kill", {"exit_code": None, "signal": 9}, "Rank 0 ended with SIGKILL"),
    ],
)
def test_a_training_that_dies_is_told_with_its_own_code_signal_and_error(
    wrapped: Wrapped, server: IngestServer, how: str, end: dict[str, Any], message: str
) -> None:
    assert wrapped.start(how).wait() == 1
    assert wrapped.end["outcome"] == "failed"
    assert {key: wrapped.end["ranks"]["0"][key] for key in end} == end
    assert wrapped.end["message"].startswith(message)
    assert server.values("loss") == [float(step) for step in range(1, 21)]
    if how == "raise":
        assert "Traceback (most recent call last)" in wrapped.end["ranks"]["0"]["error"]


def test_a_command_that_does_not_exist_is_told(wrapped: Wrapped) -> None:
    command = [sys.executable, "-m", "safehold.wrapper", "--dir", str(wrapped.folder)]
    subprocess.run([*command, "--", "/no/such/command"], stdout=subprocess.DEVNULL, check=False)
    assert wrapped.end["outcome"] == "could_not_start"
    assert wrapped.end["message"].startswith(
        "Rank 0 ended with exit code 127: /no/such/command could not be started"
    )


def test_sigterm_saves_stops_and_is_told_as_stopped(wrapped: Wrapped, server: IngestServer) -> None:
    wrapped.start("run").ready(0)
    wrapped.send(signal.SIGTERM)
    assert wrapped.wait() == 0
    assert wrapped.end["outcome"] == "stopped"
    assert wrapped.end["signal"] == signal.SIGTERM
    assert (wrapped.folder / "saved-0").exists()
    assert server.events("lifecycle")[-1]["what"] == "stopped"


def test_who_ignores_sigterm_is_killed_within_the_grace(wrapped: Wrapped) -> None:
    wrapped.start("stubborn", "--grace", "2").ready(0)
    began = time.monotonic()
    wrapped.send(signal.SIGTERM)
    assert wrapped.wait() == 1
    assert time.monotonic() - began < 4
    assert wrapped.end["outcome"] == "failed"
    assert wrapped.end["ranks"]["0"]["exit_code"] is None


def test_processes_that_the_training_left_are_ended(wrapped: Wrapped) -> None:
    assert wrapped.start("orphan").wait() == 0
    assert wrapped.end["outcome"] == "finished"
    assert not alive(int((wrapped.folder / "orphan").read_text()))


def test_a_server_that_is_away_does_not_delay_the_record_of_the_end(
    wrapped: Wrapped, server: IngestServer
) -> None:
    server.away = "503"
    wrapped.start("raise")
    wait_until(lambda: (wrapped.folder / "exit.json").exists(), 60)
    assert wrapped.process is not None
    assert wrapped.process.poll() is None
    server.away = None
    assert wrapped.wait() == 1
    assert server.values("loss") == [float(step) for step in range(1, 21)]
    assert server.held.exits[0]["exit"]["outcome"] == "failed"
    assert server.held.logs["rank-0"].decode() == wrapped.log("rank-0")


def test_the_sending_ends_when_its_time_is_over_or_it_is_asked_to(
    wrapped: Wrapped, server: IngestServer
) -> None:
    server.away = "503"
    wrapped.start("raise")
    wait_until(lambda: (wrapped.folder / "exit.json").exists(), 60)
    wrapped.send(signal.SIGTERM)
    assert wrapped.wait(5) == 1


def test_the_wrapper_can_be_found_again_by_pid_and_start_time(wrapped: Wrapped) -> None:
    wrapped.start("run").ready(0)
    assert wrapped.process is not None
    told = json.loads((wrapped.folder / "wrapper.json").read_text())
    assert told["pid"] == wrapped.process.pid == told["pgid"]
    assert told["started"] == started(wrapped.process.pid)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_nothing_outlives_a_killed_wrapper(wrapped: Wrapped) -> None:
    wrapped.start("run").ready(0)
    assert wrapped.process is not None
    below = descendants(wrapped.process.pid)
    assert len(below) >= 2
    wrapped.process.kill()
    wrapped.process.wait()
    wait_until(lambda: not any(alive(pid) for pid in below))


@pytest.mark.slow(30)
class TestTorchrun:
    """The same with two ranks through torchrun."""

    def test_two_ranks_finish(self, wrapped: Wrapped, server: IngestServer) -> None:
        assert wrapped.start("finish", "--nproc", "2").wait() == 0, wrapped.output()
        assert wrapped.end["outcome"] == "finished"
        assert sorted(wrapped.end["ranks"]) == ["0", "1"]
        assert sorted(set(server.held.ranks.values())) == [0, 1]

    def test_the_rank_that_failed_first_is_named(self, wrapped: Wrapped) -> None:
        assert wrapped.start("raise", "--nproc", "2").wait() == 1
        assert wrapped.end["message"] == (
            "Rank 1 ended with exit code 1: ValueError: the loss went away"
        )

    def test_sigterm_reaches_every_rank_and_ends_as_stopped(self, wrapped: Wrapped) -> None:
        wrapped.start("run", "--nproc", "2").ready(0, 1)
        wrapped.send(signal.SIGTERM)
        assert wrapped.wait() == 0
        assert wrapped.end["outcome"] == "stopped"
        assert [end["exit_code"] for end in wrapped.end["ranks"].values()] == [0, 0]

    def test_nothing_outlives_a_killed_wrapper(self, wrapped: Wrapped) -> None:
        wrapped.start("run", "--nproc", "2").ready(0, 1)
        assert wrapped.process is not None
        below = descendants(wrapped.process.pid)
        assert len(below) >= 5
        wrapped.process.kill()
        wrapped.process.wait()
        wait_until(lambda: not any(alive(pid) for pid in below))
