"""A whole service for end-to-end tests: real web server, worker and clock on a database of its own.

Each test process starts one when it is first asked for and lends it from test to test: what a test
killed is started again, what it wrote is removed.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import psycopg
from django.core.management import call_command
from django.db import OperationalError, connection, connections
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
        database: Name of its database on the tests' PostgreSQL.
        env: Environment of its processes; also right for a trainer or the command line.
        was_ready: It has been ready once.
    """

    url: str
    home: Path
    database: str
    env: dict[str, str]
    valkey: Valkey
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    was_ready: bool = False

    def start(self) -> None:
        """Start all that does not run and wait until the service says that it is ready."""
        if not answers(self.valkey.url()):
            self.valkey.start()
        for name in ("web", "worker", "beat"):
            if name not in self.processes or self.processes[name].poll() is not None:
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
def running(valkey: Valkey) -> Iterator[LiveService]:
    """Keep a service on a migrated database of its own; a test borrows it by `lent`."""
    home = Path(tempfile.mkdtemp(prefix="live-", dir=environment.WORKER_HOME))
    for part in ("logs", "static"):
        (home / part).mkdir()
    with new_database() as name:
        service = LiveService(*address_and_env(home, name), valkey)
        try:
            yield service
        finally:
            service.stop()
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def lent(service: LiveService) -> Iterator[LiveService]:
    """Turn the ORM to the service, whole again and empty; leave nothing behind."""
    with connected_to(service.database), override_settings(**settings_of(service.home)):
        service.start()
        try:
            yield service
        finally:
            service.end_trainers()
            empty_tables()


def settings_of(home: Path) -> dict[str, object]:
    """Return the settings that must agree between the test and the service's processes."""
    return {
        "SAFEHOLD_HOME": home,
        "SAFEHOLD_ATTEMPTS_DIR": home / "attempts",
        "SAFEHOLD_CHECKPOINT_ROOT": home / "checkpoints",
    }


def address_and_env(home: Path, database: str) -> tuple[str, Path, str, dict[str, str]]:
    """Return the first fields of a service on `database`."""
    url = f"http://127.0.0.1:{free_port()}"
    env = os.environ | {
        "SAFEHOLD_HOME": str(home),
        "DATABASE_URL": places.database_url(environment.HOME, database),
        "SAFEHOLD_PUBLIC_URL": url,
        "SAFEHOLD_SWEEP_SECONDS": "1",
    }
    return url, home, database, dict(env)


@contextmanager
def new_database() -> Iterator[str]:
    """Make a migrated database for as long as the context lasts."""
    name = f"live_{environment.WORKER}_{uuid.uuid4().hex[:8]}"
    _administer(f'CREATE DATABASE "{name}"')
    try:
        with connected_to(name):
            call_command("migrate", verbosity=0)
        yield name
    finally:
        _administer(f'DROP DATABASE "{name}" WITH (FORCE)')


def empty_tables() -> None:
    """Remove all rows but those that migrations made; numbers go on, so that no name is used twice."""
    made_by_migrations = {"django_migrations", "django_content_type", "auth_permission"}
    tables = set(connection.introspection.table_names()) - made_by_migrations
    statement = f"TRUNCATE {', '.join(map(connection.ops.quote_name, sorted(tables)))}"

    def is_done() -> bool:
        # A task that still holds rows may want those that this holds.
        with suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
            cursor.execute(statement)
            return True
        return False

    wait_until(is_done, 30, "the tables were never free to be emptied")


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
