"""Attempts of this machine wait for its devices, in order, whoever dies meanwhile."""

import os
import threading
import time
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.workers.launchers.conftest import LocalBench
from workers.launchers import line, processes
from workers.launchers.base import LauncherError, Presence
from workers.launchers.devices import Devices
from workers.launchers.local import LocalLauncher

A, B, C = "safehold-r1-a1", "safehold-r2-a1", "safehold-r3-a1"


@pytest.fixture
def small(bench: LocalBench) -> LocalBench:
    """A machine with two slots."""
    return with_devices(bench, Devices(2))


def with_devices(bench: LocalBench, devices: Devices) -> LocalBench:
    bench.launcher = LocalLauncher(bench.root, devices=lambda: devices)
    return bench


def start(bench: LocalBench, name: str, devices: int = 1, kind: str = "waits") -> bool:
    """Return whether it started, rather than took its place in the line."""
    return "pid" in bench.launcher.start(bench.spec(name, kind, devices=devices))


def end(bench: LocalBench, name: str) -> None:
    bench.launcher.kill(name, {})
    wait_until(lambda: bench.launcher.observe(name, {}).is_gone, 10, "it does not end")


def test_what_does_not_fit_waits_in_words_and_starts_when_it_is_its_turn(small: LocalBench):
    assert start(small, A, devices=2)
    assert not start(small, B)
    seen = small.launcher.observe(B, {})
    assert (seen.presence, seen.is_due, seen.is_alive) == (Presence.PENDING, False, True)
    assert seen.reason == "Waiting for devices of this machine: it needs 1, 0 of 2 are free."
    assert not start(small, B), "it came in without room"
    end(small, A)
    assert small.launcher.observe(B, {}).is_due
    assert start(small, B)
    assert small.launcher.observe(B, {}).presence is Presence.RUNNING
    assert small.num_started(B) == 1


def test_nobody_is_let_in_before_the_one_that_waits_longer(small: LocalBench):
    assert start(small, A)
    assert not start(small, B, devices=2)
    assert not start(small, C), "it fits, but another one is before it"
    assert small.launcher.observe(C, {}).reason.endswith("1 attempt is before it.")
    end(small, A)
    assert start(small, B, devices=2)
    assert not start(small, C)
    end(small, B)
    assert start(small, C)


def test_the_one_that_was_asked_for_first_is_first_whichever_worker_is_quicker(small: LocalBench):
    assert start(small, A, devices=2)
    for name, asked_at in ((C, 2.0), (B, 1.0)):
        small.launcher.start(small.spec(name, asked_at=asked_at))
    assert small.launcher.observe(C, {}).reason.endswith("1 attempt is before it.")
    end(small, A)
    assert small.launcher.observe(B, {}).is_due


def test_who_gives_up_makes_way(small: LocalBench):
    assert start(small, A, devices=2)
    assert not start(small, B)
    assert not start(small, C)
    small.launcher.stop(B, {}, grace_seconds=1)
    small.launcher.fence(B)
    seen = small.launcher.observe(B, {})
    assert (seen.presence, seen.is_fenced) == (Presence.ABSENT, True)
    end(small, A)
    assert start(small, C)
    with pytest.raises(LauncherError, match="closed"):
        start(small, B)


def test_a_ticket_that_nobody_asks_for_stands_in_nobodys_way(small: LocalBench):
    assert start(small, A, devices=2)
    assert not start(small, B)
    assert not start(small, C)
    (ticket,) = (small.root / ".line" / "waiting").glob(f"*.{B}")
    old = time.time() - line.TICKET_SECONDS - 1
    os.utime(ticket, (old, old))
    end(small, A)
    assert start(small, C)


def test_a_start_that_died_half_way_holds_nothing(small: LocalBench):
    assert start(small, A)
    assert not start(small, B, devices=2)
    end(small, A)
    # As if the worker had been killed between the decision and the process.
    assert small.launcher._line.enter(B, 2) == ()
    assert small.launcher.observe(B, {}).is_due
    assert start(small, B, devices=2)


def test_alone_more_ranks_than_slots_may_share_the_processors(small: LocalBench):
    assert start(small, A, devices=4)
    assert not start(small, B)
    end(small, A)
    assert start(small, B)


def test_gpus_are_given_to_one_attempt_each(bench: LocalBench):
    machine = with_devices(bench, Devices(3, ("0", "1", "2")))
    show = (
        "import os, signal; print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); signal.pause()"
    )
    for name, devices in ((A, 2), (B, 1)):
        assert start(machine, name, devices, show if devices == 1 else "waits")
    log = machine.folder(B) / "logs" / "rank-0.log"
    wait_until(lambda: log.exists() and log.read_text().strip() == "2", 10, "no GPU was told")
    with pytest.raises(LauncherError, match="asks for 4 devices") as refused:
        start(machine, C, 4)
    assert not refused.value.can_retry


def test_of_many_starts_at_once_as_many_come_in_as_there_is_room_for(small: LocalBench):
    names = [f"safehold-r{number}-a1" for number in range(12)]
    started: list[str] = []

    def one(name: str) -> None:
        if start(small, name):
            started.append(name)

    threads = [threading.Thread(target=one, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 2
    assert len(processes.folders_below(Path(small.root))) == 2
    waiting = [name for name in names if name not in started]
    assert [small.launcher.observe(n, {}).presence for n in waiting] == [Presence.PENDING] * 10
