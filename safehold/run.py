"""`Run`: what a training script holds in its hand.

Reporting never raises into the training loop and never makes it wait for the network: a log call
is one write to a journal on this machine's disk. Saving does raise.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from safehold import agreement, environment, wire
from safehold.commands import Inbox
from safehold.facts import about_this_process
from safehold.logbook import Logbook
from safehold.obedience import Obedience
from safehold.outbox import Outbox
from safehold.reporting import Reporting
from safehold.signals import Stopped, StopSignal
from safehold.statusfile import Phase, drop_room, keep_room, status_path, write_status
from safehold.steps import iterate

if TYPE_CHECKING:
    from safehold.checkpointing.checkpointer import Checkpointer

logger = logging.getLogger(__name__)

T = TypeVar("T")


class HasStep(Protocol):
    """Where a training begins."""

    @property
    def step(self) -> int:
        """Optimizer steps done."""


def init(environ: Mapping[str, str] | None = None) -> Run:
    """Open the run of this process.

    Args:
        environ: Read instead of the process environment.

    Returns:
        A `Run` that reports to the control plane that `SAFEHOLD_URL` names, or an `OfflineRun` with
        the same methods where none is named.

    Raises:
        ValueError: a `SAFEHOLD_*` variable makes no sense.
        OSError: the folder of the attempt cannot be written.
    """
    found = environment.read(environ)
    return (Run if found.online else OfflineRun)(found)


class Run(Logbook):
    """One process (rank) of one attempt: a logbook that reports, obeys and ends."""

    def __init__(self, found: environment.Environment) -> None:
        super().__init__(found)
        self._checkpointer: Checkpointer | None = None
        self._obedience: Obedience | None = None
        self._finished = False
        self._looping = False
        self._shows_saving = False
        self._outbox = Outbox(found.folder / "outbox")
        keep_room(status_path(found.folder, found.rank))
        self._reporting = self._start_reporting()
        self._signal = StopSignal(self._on_signal)
        self._signal.install()
        self.event("lifecycle", {"what": "started"} | about_this_process(found))
        atexit.register(self._abandon)

    @property
    def stopped(self) -> bool:
        """Say whether the training ended because it was asked to stop."""
        return self._obedience is not None and self._obedience.stopped

    @property
    def folder(self) -> Path:
        """Return the folder of the attempt on this machine."""
        return self.environment.folder

    def steps(
        self, loader: Iterable[T], start: HasStep | int | None = None, stop: int | None = None
    ) -> Iterator[tuple[int, T]]:
        """Go through a loader, one batch a step, doing between steps what the server asks for.

        Ends early after a save-and-stop; then `run.stopped` is true and `run.finish()` says so. Every
        rank has to call it at the same place, after `init_process_group`.

        Args:
            loader: Gives the batches that are still to come.
            start: Steps done before, or what `restore_or_start()` returned.
            stop: Last step; `None` = as long as the loader gives.

        Yields:
            The number of the step (the first is start + 1) and its batch.

        Raises:
            ValueError: The config declares micro-batches that add up to another gradient than is meant.
        """
        self._accumulation.require_declared()
        done = start if isinstance(start, int) else start.step if start is not None else 0
        tokens = getattr(start, "tokens", -1)
        # 0 is also what a start says that knows of none: a script that never tells them must not stand at 0.
        self.step, self.tokens = done, max(self.tokens, tokens or -1)
        self._obedience = Obedience(
            self, self._inbox(), agreement.of_this_process(), lambda: self._signal.requested
        )
        self.phase, self._looping = "training", True
        try:
            self._meter.begin(done, self.tokens if done else max(self.tokens, tokens))
            for number, batch in iterate(self, self._obedience, self._meter, loader, done, stop):
                self._accumulation.begin()
                yield number, batch
            self._obedience.end()  # not after an error: the other ranks may be stuck
        finally:
            self._looping = False
            if self.phase == "training":
                self.phase = "finishing"

    def checkpointer(self, *, model: Any, optimizer: Any, **parts: Any) -> Checkpointer:
        """Return what saves and restores this training; see `safehold.checkpointing`.

        Args:
            model: The trained network.
            optimizer: Its optimizer.
            parts: `scheduler`, `sampler`, `scaler` and further options.
        """
        from safehold.checkpointing.checkpointer import Checkpointer

        self._meter.parameters = sum(p.numel() for p in model.parameters())
        self._checkpointer = Checkpointer(self, model=model, optimizer=optimizer, **parts)
        return self._checkpointer

    def register_checkpoint(
        self, *, path: str, manifest: dict[str, Any], state: str, error: str | None = None
    ) -> None:
        """Tell the registry of a checkpoint; kept on the disk until the server has it.

        Args:
            path: Folder of the checkpoint.
            manifest: Its manifest, or what is known of it.
            state: `writing`, `complete` or `failed`.
            error: Why it failed.
        """
        facts = {key: manifest.get(key) for key in ("step", "tokens", "kind")}
        self.event("checkpoint", {"path": path, "state": state, "error": error} | facts)
        try:
            self._outbox.put(
                {"v": 1, "path": path, "manifest": manifest, "state": state, "error": error}
            )
        except (OSError, wire.WireError) as failure:
            self._recorder.tell(
                f"{path} could not be put down for the registry: {failure}", "error"
            )
        self._reporting.wake()
        self._show_saving(state)

    def finish(self, timeout_seconds: float = 10.0) -> None:
        """End the run: flush the checkpointer, tell how it ended, send what is left.

        Args:
            timeout_seconds: For the sending; what is not sent stays on the disk and is sent by the
                process wrapper or the next start.

        Raises:
            SaveError: the last snapshot failed.
        """
        if self._finished:
            return
        self.phase = "finishing"
        if self._checkpointer is not None:
            self._checkpointer.flush()
        self.tell("stopped" if self.stopped else "finished", self.step)
        self.mark("stopped" if self.stopped else "finished")
        self.phase = "finished"
        self._close(timeout_seconds)

    def save(self, step: int) -> str:
        """Save an anchor of this step; returns what to say about it."""
        if self._checkpointer is None:
            return "Nothing saved: the script has no checkpointer."
        before, self.phase = self.phase, "saving"
        try:
            self._checkpointer.save(step, kind="anchor")
        finally:
            self.phase = before
            self._meter.begin(self.step, self.tokens)
        return f"Saved step {step}."

    def tell(self, what: str, step: int) -> None:
        """Keep a turn of events in the timeline."""
        self.event("lifecycle", {"what": what, "step": step})

    def mark(self, phase: Phase) -> None:
        """Tell the process wrapper how far this rank is."""
        try:
            write_status(self.folder, self.rank, phase)
        except OSError:
            logger.exception("run.status_not_written", extra={"folder": str(self.folder)})

    def _start_reporting(self) -> Reporting:
        return Reporting(self.environment, self._recorder.journal, self._outbox, self._heartbeat)

    def _inbox(self) -> Inbox:
        return self._reporting.inbox

    def _heartbeat(self) -> wire.Heartbeat:
        return wire.Heartbeat(time.time_ns() // 1_000_000, self.step, self.tokens, self.phase)

    def _show_saving(self, state: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if state == "writing" and self.phase == "training":
            self.phase, self._shows_saving = "saving", True
        elif state != "writing" and self._shows_saving:
            self.phase, self._shows_saving = "training", False
            if self._signal.requested:
                self._on_signal()  # it came while the script saved, which was let finish

    def _on_signal(self) -> None:
        if self._looping or self._finished:
            return
        if self.phase == "starting":
            self.mark("stopped")
            raise Stopped
        if self.phase in (
            "training",
            "evaluating",
        ):  # a loop of the script's own: nobody else can end it
            raise SystemExit(128 + signal.SIGTERM)

    def _close(self, timeout_seconds: float) -> None:
        self._finished = True
        drop_room(status_path(self.folder, self.rank))
        self._signal.remove()
        atexit.unregister(self._abandon)
        self._recorder.journal.close(acked=self._reporting.close(timeout_seconds))

    def _abandon(self) -> None:
        """The process ends without `finish()`: say why, and send what a few seconds allow."""
        if self._finished or os.getpid() != self._recorder.journal.pid:
            return
        error = getattr(sys, "last_value", None)
        what = {"what": "ended", "error": f"{type(error).__name__}: {error}" if error else None}
        self.event("lifecycle", what)
        self._close(timeout_seconds=3.0)


class OfflineRun(Run):
    """A run without a control plane: the same methods; the journal waits for a later replay."""

    def _start_reporting(self) -> Reporting:
        return Reporting(None, self._recorder.journal, self._outbox, self._heartbeat)
