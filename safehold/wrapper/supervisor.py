"""The life of an attempt on one machine: start, forward, wait, record, send."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from types import FrameType
from typing import Any

from safehold.statusfile import keep_room, write_json
from safehold.wrapper.ending import describe_end, describe_unstarted, read_ranks, write_end
from safehold.wrapper.linux import adopt_orphans, descendants, die_with_parent, started
from safehold.wrapper.meeting import Meeting, NoMeeting
from safehold.wrapper.options import Options, root_command, root_environment
from safehold.wrapper.shipping import Shipping

# How long processes that the ranks left behind may take to go by themselves.
ORPHAN_SECONDS = 2.0
LOOK_SECONDS = 0.2


class Supervisor:
    """Runs the ranks of one attempt."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._asked_signal: int | None = None
        self._asked_at = 0.0
        self._told: set[int] = set()
        self._root = 0
        self._root_code: int | None = None
        self._wake_read, self._wake_write = os.pipe()
        self._shipping = Shipping(options)
        self._meeting = Meeting(options, os.environ)

    def run(self) -> int:
        """Run the attempt to its end; returns 0 where it finished or was saved and stopped."""
        self._prepare()
        started_at = _now()
        reason = self._begin()
        self._shipping.start()
        if reason:
            document = self._unstarted(started_at, reason)
        else:
            document = self._see_through(started_at)
        write_end(self._options.folder, self._options.exit_name, document, os.environ)
        self._note(f"ended: {document['outcome']}: {document['message']}")
        self._shipping.finish(document)
        return 0 if document["outcome"] in ("finished", "stopped") else 1

    def _begin(self) -> str:
        """Start the ranks, once the nodes know where they meet; returns why not, if they cannot."""
        try:
            endpoint = self._meeting.agree(is_over=lambda: self._asked_signal is not None)
        except NoMeeting as error:
            return str(error)
        self._options = replace(self._options, endpoint=endpoint)
        self._start()
        self._meeting.publish()
        return ""

    def _see_through(self, started_at: str) -> dict[str, Any]:
        while self._root_code is None:
            self._look()
        self._clear_up()
        return describe_end(
            self._options.folder,
            started_at=started_at,
            ended_at=_now(),
            root_code=self._root_code,
            num_ranks=self._options.num_ranks,
            asked_signal=self._asked_signal,
        )

    def _unstarted(self, started_at: str, reason: str) -> dict[str, Any]:
        self._root_code = 1  # a signal from here on only hurries the sending
        return describe_unstarted(
            started_at=started_at,
            ended_at=_now(),
            reason=reason,
            asked_signal=self._asked_signal,
        )

    def _prepare(self) -> None:
        folder = self._options.folder
        for name in ("logs", "ranks", "journal"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            os.setsid()  # where the launcher has not done it: our own process group
        adopt_orphans()
        for pipe in (self._wake_read, self._wake_write):
            os.set_blocking(pipe, False)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        me = os.getpid()
        keep_room(folder / self._options.exit_name)
        write_json(
            folder / "wrapper.json", {"pid": me, "started": started(me), "pgid": os.getpgrp()}
        )

    def _start(self) -> None:
        me = os.getpid()
        log = open(self._options.folder / "logs" / f"{self._options.source}.log", "ab")  # noqa: SIM115
        with log:
            process = subprocess.Popen(
                root_command(self._options),
                env=root_environment(self._options, os.environ),
                stdin=subprocess.DEVNULL,
                stderr=log,
                preexec_fn=lambda: die_with_parent(me),
            )
        self._root = process.pid
        process.returncode = 0  # we wait for every child ourselves
        self._note(f"started {' '.join(self._options.command)} on {self._options.num_ranks} ranks")

    def _look(self) -> None:
        """Wait for a signal or a moment, then see to what is due."""
        select.select([self._wake_read], [], [], LOOK_SECONDS)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
        self._reap()
        if self._asked_signal is not None and self._root_code is None:
            self._forward()
            if time.monotonic() - self._asked_at > self._options.kill_seconds:
                self._kill_all()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._root:
                self._root_code = os.waitstatus_to_exitcode(status)

    def _forward(self) -> None:
        """Ask each rank once: through its shim, or torchrun where shims are still to come."""
        shims = {r["pid"] for r in read_ranks(self._options.folder).values() if not r["ended_at"]}
        targets = shims - self._told
        if len(shims) < self._options.num_ranks and self._root not in self._told:
            targets.add(self._root)
        for pid in targets & {self._root, *descendants(os.getpid())}:
            self._told.add(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _clear_up(self) -> None:
        """End what the ranks left behind."""
        deadline = time.monotonic() + ORPHAN_SECONDS
        while descendants(os.getpid()):
            if time.monotonic() > deadline:
                self._kill_all()
            time.sleep(0.02)
            self._reap()

    def _kill_all(self) -> None:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked_signal is None:
            self._asked_signal, self._asked_at = number, time.monotonic()
        if self._root_code is not None:
            self._shipping.hurry()

    def _note(self, text: str) -> None:
        path = self._options.folder / "logs" / f"{self._options.source}.log"
        with contextlib.suppress(OSError), path.open("a") as file:
            file.write(f"{_now()} wrapper {text}\n")


def _now() -> str:
    return datetime.now(UTC).isoformat()


def run(options: Options) -> int:
    """Run one attempt on this machine."""
    return Supervisor(options).run()


__all__: list[Any] = ["Supervisor", "run"]
