"""The shim of one rank: runs the real command, and remembers what torchrun would forget.

torchrun makes 1 of every exit code and kills on its own clock. So between it and the command stands
this process: it keeps the output, the exit code or signal and the last error in files.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from safehold.statusfile import drop_room, keep_room, write_json
from safehold.wrapper.linux import die_with_parent
from safehold.wrapper.tail import Tail

# How long output of a dead command may still come, from processes it left behind.
DRAIN_SECONDS = 2.0


def main(arguments: Sequence[str]) -> int:
    """Run the command after `--` as one rank; returns its exit code, 128 + n for signal n."""
    parent = os.getppid()
    die_with_parent(parent)
    command = list(arguments[arguments.index("--") + 1 :] if "--" in arguments else arguments)
    return Shim(Path(os.environ["SAFEHOLD_DIR"]), int(os.environ.get("RANK", "0"))).run(command)


class Shim:
    """One rank and its command."""

    def __init__(self, folder: Path, rank: int) -> None:
        self._rank = rank
        self._record_path = folder / "ranks" / f"{rank}.json"
        self._log_path = folder / "logs" / f"rank-{rank}.log"
        self._record: dict[str, Any] = {"v": 1, "rank": rank, "pid": os.getpid()}
        self._tail = Tail()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = False
        self._forwarded = False

    def run(self, command: Sequence[str]) -> int:
        """Run the command to its end."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        self._write(started_at=_now(), ended_at=None, exit_code=None, signal=None, error=None)
        keep_room(self._record_path)
        with self._log_path.open("ab", buffering=0) as log:
            try:
                self._process = self._start(command)
            except OSError as error:
                return self._could_not_start(log, command, error)
            self._write(command_pid=self._process.pid)
            self._forward()
            self._copy_output(log, self._process)
        return self._ended(self._process.wait())

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        me = os.getpid()
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: die_with_parent(me),  # no thread runs in this process
        )

    def _could_not_start(self, log: BinaryIO, command: Sequence[str], error: OSError) -> int:
        text = f"{command[0]} could not be started: {error}"
        self._put(log, f"{text}\n".encode())
        self._write(ended_at=_now(), exit_code=127, error=text, could_not_start=True)
        return 127

    def _copy_output(self, log: BinaryIO, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        ended_at = 0.0
        while not ended_at or time.monotonic() - ended_at < DRAIN_SECONDS:
            readable, _, _ = select.select([process.stdout], [], [], 0.1)
            if readable:
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    return
                self._put(log, data)
            elif ended_at:
                return
            if not ended_at and process.poll() is not None:
                ended_at = time.monotonic()

    def _put(self, log: BinaryIO, data: bytes) -> None:
        self._tail.feed(data)
        # A full disk or a closed terminal must not stop the training.
        with contextlib.suppress(OSError):
            log.write(data)
        with contextlib.suppress(OSError):
            os.write(sys.stdout.fileno(), data)

    def _ended(self, code: int) -> int:
        self._write(
            ended_at=_now(),
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            error=self._tail.error() if code else None,
        )
        drop_room(self._record_path)
        return code if code >= 0 else 128 - code

    def _write(self, **changes: Any) -> None:
        self._record |= changes
        with contextlib.suppress(OSError):
            write_json(self._record_path, self._record)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        self._forward()

    def _forward(self) -> None:
        if self._asked and self._process is not None and not self._forwarded:
            self._forwarded = True
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)


def _now() -> str:
    return datetime.now(UTC).isoformat()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
