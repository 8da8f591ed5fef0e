"""One `safehold up` per home: a lock that the kernel frees however its holder ends."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from controlplane.common.errors import Conflict


class AlreadyRunning(Conflict):
    """Another `safehold up` serves this home."""

    code = "service-already-running"


class UpLock:
    """Held while the service runs; its file says who holds it and at which address.

    Attributes:
        path: The file; its content is for people, the lock on it is the truth.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def __enter__(self) -> "UpLock":
        """Take the lock.

        Raises:
            AlreadyRunning: Another process has it; the message names its address and pid.
        """
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise self._taken() from None
        return self

    def tell(self, **facts: Any) -> None:
        """Write what a second `up` shall say."""
        text = json.dumps({"pid": os.getpid()} | facts).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text, 0)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the lock; the file stays, so that nobody locks a deleted one."""
        os.ftruncate(self._file, 0)
        os.close(self._file)

    def _taken(self) -> AlreadyRunning:
        try:
            holder = json.loads(self.path.read_text())
        except ValueError:
            holder = {}
        where = f" at {holder['url']}" if "url" in holder else ", still starting"
        home = self.path.parent
        who = f" (pid {holder['pid']})" if "pid" in holder else ""
        return AlreadyRunning(
            f"Safehold is already running{where}{who}.",
            hint="Stop it with Ctrl-C in its terminal, or use another SAFEHOLD_HOME.",
            extra={"url": holder.get("url"), "home": str(home), "token_file": str(home / "token")},
        )
