"""The supervisor restarts what ends, waits longer each time, and stops in reverse order."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import psutil
import pytest

from controlplane.service.processes import Child, Supervisor, delay_seconds, ending
from tests.waiting import wait_until


def sleeper(seconds: float = 600) -> Callable[[], subprocess.Popen[bytes]]:
    return lambda: subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    made = Supervisor()
    yield made
    made.stop()


def test_a_killed_child_is_started_again(supervisor: Supervisor):
    child = Child("worker", sleeper())
    supervisor.add(child)
    first = child.process
    first.kill()
    first.wait()
    assert supervisor.tend() == ["worker ended (signal 9); it is started again in 0.5 s."]
    told = wait_until(supervisor.tend, 5, "the child was not started again")
    assert told == ["worker was started again."]
    assert psutil.pid_exists(child.process.pid)


def test_a_child_that_keeps_ending_is_started_ever_more_rarely():
    clock = [0.0]
    supervisor = Supervisor(now=lambda: clock[0])
    child = Child("worker", sleeper(0))
    supervisor.add(child)
    waits = []
    for _ in range(4):
        child.process.wait()
        supervisor.tend()
        waits.append(child.due_at - clock[0])
        clock[0] = child.due_at
        supervisor.tend()
    supervisor.stop()
    assert waits == [0.5, 1, 2, 4]


def test_the_wait_is_bounded_and_forgotten_once_the_child_lived():
    assert delay_seconds(1000) == 30
    clock = [0.0]
    supervisor = Supervisor(now=lambda: clock[0])
    child = Child("worker", sleeper(0), num_failures=5)
    supervisor.add(child)
    child.process.wait()
    clock[0] = 61.0
    supervisor.tend()
    assert child.due_at == 61.5


def test_a_child_that_is_meant_to_end_is_not_started_again(supervisor: Supervisor):
    child = Child("demo run", sleeper(0), is_once=True)
    supervisor.add(child)
    child.process.wait()
    assert supervisor.tend() == ["demo run: ready"]
    assert supervisor.tend() == []
    assert child.process is None


def test_the_last_started_is_stopped_first(supervisor: Supervisor):
    stopped = []

    class Noting(Child):
        def stop(self) -> None:
            stopped.append(self.name)
            super().stop()

    for name in ("PostgreSQL", "web server", "worker"):
        supervisor.add(Noting(name, sleeper()))
    supervisor.stop()
    assert stopped == ["worker", "web server", "PostgreSQL"]


def test_a_child_deaf_to_its_signal_is_killed(supervisor: Supervisor):
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('deaf', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    with process:
        process.stdout.readline()
        Child("deaf", sleeper(), process=process, stop_timeout_seconds=0.1).stop()
        assert process.poll() == -signal.SIGKILL


def test_an_ending_is_told_in_words():
    assert (ending(3), ending(-9)) == ("exit code 3", "signal 9")
