"""A whole service for end-to-end tests: real web server, worker and clock on a database of its own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import psycopg
from django.core.management import call_command
from django.db import connection, connections
from django.test import override_settings

from controlplane.service import children, commands, places
from controlplane.service.valkey import Valkey, answers
from tests import environment
from tests.waiting import wait_until

START_TIMEOUT_SECONDS = 60


@dataclass
class LiveService:
    """The processes of one service; a test may kill and start each of them.

    Attributes:
        url: Base address, e.g. http://127.0.0.1:40123.
        home: Its state directory: attempts, checkpoints, logs.
        env: Environment of its processes; also right for a trainer or the command line.
        was_ready: It has been ready once.
    """

    url: str
    home: Path
    env: dict[str, str]
    valkey: Valkey
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    was_ready: bool = False

    def start(self) -> None:
        """Start everything and wait until the service says that it is ready."""
        for name in ("web", "worker", "beat"):
            self.start_process(name)
        self.wait_ready()

    def start_process(self, name: str) -> None:
        """Start `web`, `worker`, `beat` or `watcher` (again), without waiting for it."""
        command, env = {
            "web": (commands.web(self.port), commands.web_environment(self.env)),
            "worker": (commands.worker(2, (*commands.QUEUES, *commands.LONG_QUEUES)), self.env),
            "beat": (commands.beat(self.home / "beat-schedule"), self.env),
            "watcher": (commands.watcher(), self.env),
        }[name]
        self.processes[name] = children.start(command, log=self.log(name), env=env)

    def kill(self, name: str) -> None:
        """Send SIGKILL to `web`, `worker` (its pool too), `beat` or `valkey`, and wait for its end."""
        if name == "valkey":
            assert self.valkey.child is not None
            self.valkey.child.kill()
            self.valkey.child.wait()
            return
        process = self.processes.pop(name)
        pool = psutil.Process(process.pid).children(recursive=name == "worker")
        process.kill()
        process.wait()
        for member in pool:
            # The pool alone: detached trainers have sessions of their own.
            if _session(member) == process.pid:
                member.kill()

    def wait_ready(self) -> None:
        """Wait until /readyz is content."""
        wait_until(self._is_ready, START_TIMEOUT_SECONDS, self._report, every=0.1)
        self.was_ready = True

    def stop(self) -> None:
        """Stop the processes, then whatever they launched."""
        for process in reversed(self.processes.values()):
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            children.stop(process, signal.SIGTERM, 15)
        self.end_trainers()

    def end_trainers(self) -> None:
        """Kill the detached wrappers and trainers of this service."""
        for process in psutil.process_iter():
            try:
                place = process.environ().get("SAFEHOLD_DIR", "")
            except psutil.Error:
                continue
            if place.startswith(str(self.home)):
                process.kill()

    def log(self, name: str) -> Path:
        """Return the log file of one process."""
        return self.home / "logs" / f"{name}.log"

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def _is_ready(self) -> bool:
        ended = [name for name, process in self.processes.items() if process.poll() is not None]
        assert self.was_ready or not ended, f"{ended} ended while starting. {self._report()}"
        for name in ended:  # as the supervisor of `up` does: Celery ends when its broker is gone
            self.start_process(name)
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def _report(self) -> str:
        tails = {name: self.log(name).read_text()[-1500:] for name in self.processes}
        return "the service never got ready.\n" + "\n".join(f"{k}: {v}" for k, v in tails.items())


@contextmanager
def running(template: str, valkey: Valkey) -> Iterator[LiveService]:
    """Run a service on a copy of the template database; the ORM of the test sees that copy."""
    if not answers(valkey.url()):
        valkey.start()
    home = Path(tempfile.mkdtemp(prefix="live-", dir=environment.WORKER_HOME))
    for part in ("logs", "static"):
        (home / part).mkdir()
    with cloned_database(template) as name, override_settings(**settings_of(home)):
        service = LiveService(*address_and_env(home, name), valkey)
        try:
            service.start()
            yield service
        finally:
            service.stop()
            if not answers(valkey.url()):
                valkey.start()
            shutil.rmtree(home, ignore_errors=True)


def settings_of(home: Path) -> dict[str, object]:
    """Return the settings that must agree between the test and the service's processes."""
    return {
        "SAFEHOLD_HOME": home,
        "SAFEHOLD_ATTEMPTS_DIR": home / "attempts",
        "SAFEHOLD_CHECKPOINT_ROOT": home / "checkpoints",
    }


def address_and_env(home: Path, database: str) -> tuple[str, Path, dict[str, str]]:
    """Return the address, the home and the environment of a service on `database`."""
    url = f"http://127.0.0.1:{free_port()}"
    env = os.environ | {
        "SAFEHOLD_HOME": str(home),
        "DATABASE_URL": places.database_url(environment.HOME, database),
        "SAFEHOLD_PUBLIC_URL": url,
        "SAFEHOLD_SWEEP_SECONDS": "1",
    }
    return url, home, dict(env)


def make_template() -> str:
    """Make a migrated database of this process that services get copies of."""
    name = f"live_template_{environment.WORKER}"
    _administer(f'CREATE DATABASE "{name}"')
    with connected_to(name):
        call_command("migrate", verbosity=0)
    return name


@contextmanager
def cloned_database(template: str) -> Iterator[str]:
    """Copy the template and turn Django's connection to the copy."""
    name = f"live_{uuid.uuid4().hex[:12]}"
    _administer(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        with connected_to(name):
            yield name
    finally:
        _administer(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Turn Django's connection to another database of the tests' server."""
    before = connection.settings_dict["NAME"]
    connections.close_all()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = before


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _administer(statement: str) -> None:
    with psycopg.connect(
        places.database_url(environment.HOME, "postgres"), autocommit=True
    ) as link:
        link.execute(statement.encode())


def _session(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return -1
