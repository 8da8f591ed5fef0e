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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from safehold import agreement, environment, wire
from safehold.commands import Inbox
from safehold.facts import about_this_process
from safehold.journal import Journal
from safehold.obedience import Obedience
from safehold.outbox import Outbox
from safehold.recorder import Recorder, as_float, ids_of
from safehold.reporting import Reporting
from safehold.signals import Stopped, StopSignal
from safehold.statusfile import Phase, write_status
from safehold.steps import iterate
from safehold.throughput import Meter

if TYPE_CHECKING:
    from safehold.checkpointing.checkpointer import Checkpointer
    from safehold.guards.gradients import GradientGuard, GradientReport

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


class Run:
    """One process (rank) of one attempt.

    Attributes:
        environment: What the launcher told.
        config: The canonical run config; empty where none was given.
        rank: Of this process.
        step: Optimizer steps done, as far as logged or iterated.
        tokens: Tokens seen so far, -1 while not known.
        phase: What goes on, for the heartbeat.
    """

    def __init__(self, found: environment.Environment) -> None:
        self.environment = found
        self.config: dict[str, Any] = found.config
        self.rank = found.rank
        self.step = -1
        self.tokens = -1
        self.phase: wire.Phase = "starting"
        self._values: dict[str, float] = {}
        self._checkpointer: Checkpointer | None = None
        self._guard: GradientGuard | None = None
        self._obedience: Obedience | None = None
        self._finished = False
        self._looping = False
        self._meter = Meter(found)
        self._recorder = Recorder(
            Journal(found.folder / "journal", found.rank, limit_bytes=found.journal_bytes)
        )
        self._outbox = Outbox(found.folder / "outbox")
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

    @property
    def guard(self) -> GradientGuard:
        """Return the guard of the gradients (imports torch)."""
        if self._guard is None:
            from safehold.guards.gradients import GradientGuard

            clip = float(self.environment.setting("optimizer", "clip", 0.0) or 0.0)
            self._guard = GradientGuard(clip=clip, on_report=self._on_gradients)
        return self._guard

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
        """
        done = start if isinstance(start, int) else start.step if start is not None else 0
        tokens = getattr(start, "tokens", -1)
        self.step, self.tokens = done, max(self.tokens, tokens)
        self._obedience = Obedience(
            self, self._inbox(), agreement.of_this_process(), lambda: self._signal.requested
        )
        self.phase, self._looping = "training", True
        try:
            yield from iterate(self, self._obedience, self._meter, loader, done, stop)
        finally:
            self._looping = False
            self._obedience.end()
            if self.phase == "training":
                self.phase = "finishing"

    def log(
        self,
        step: int,
        values: Mapping[str, Any],
        *,
        tokens: int | None = None,
        batch_ids: Any = None,
        every_rank: bool = False,
    ) -> None:
        """Keep the metrics of a step, with what the library measures itself.

        Values are kept raw: NaN and infinities too. A tensor of one element is read here, once, which
        waits for its device. Of the other ranks only what the library measures is kept.

        Args:
            step: Optimizer steps done.
            values: Numbers by name.
            tokens: Tokens seen so far by the whole run.
            batch_ids: Ids of the samples of this step's batch, to find them again after a spike.
            every_rank: Keep `values` of every rank, not of rank 0 alone.
        """
        if not self._at(step, tokens):
            return
        if self.phase == "starting":
            self.phase = "training"
        own = self._meter.read(self.step, self.tokens) | self._values
        self._values = {}
        merged = {**own, **values} if self.rank == 0 or every_rank else own
        if batch_ids is None:
            self._recorder.points(self.step, self.tokens, merged)
        else:
            data = {"ids": ids_of(batch_ids)}
            self._recorder.points(self.step, self.tokens, merged, "batch_ids", data)

    def log_eval(self, name: str, split: str, value: Any, step: int | None = None) -> None:
        """Keep the result of an evaluation, also as the metric `<split>/<name>`.

        Args:
            name: Such as `loss` or `hellaswag`.
            split: Such as `validation`.
            value: One number, raw.
            step: That of the evaluated state; the current one by default.
        """
        at = max(self.step, 0) if step is None else self._whole(step, "step")
        if at is not None:
            data = {"name": name, "split": split, "value": as_float(value)}
            values = {f"{split}/{name}": value}
            self._recorder.points(at, self.tokens, values, "eval", data)

    def log_samples(
        self, samples: Sequence[Any], step: int | None = None, name: str = "samples"
    ) -> None:
        """Keep sample outputs: texts, or maps such as `{"prompt": ..., "output": ...}`."""
        at = self.step if step is None else self._whole(step, "step")
        if at is not None:
            data = {"name": name, "items": list(samples)}
            self._recorder.event("samples", data, at, self.tokens)

    def event(self, kind: wire.EventKind, data: dict[str, Any]) -> None:
        """Keep something that happened, at the current step."""
        self._recorder.event(kind, data, self.step, self.tokens)

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
        self._show_saving(state)
        try:
            self._outbox.put(
                {"v": 1, "path": path, "manifest": manifest, "state": state, "error": error}
            )
        except (OSError, wire.WireError) as failure:
            self._recorder.tell(
                f"{path} could not be put down for the registry: {failure}", "error"
            )
        self._reporting.wake()

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Show the phase `evaluating` while an evaluation goes on; its time is no step time."""
        before, self.phase = self.phase, "evaluating"
        try:
            yield
        finally:
            self.phase = before
            self._meter.begin(self.step, self.tokens)

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

    def _at(self, step: Any, tokens: Any) -> bool:
        """Take in where the training is; returns whether the step makes sense."""
        number = self._whole(step, "step")
        seen = self._whole(tokens, "tokens") if tokens is not None else None
        self.step = self.step if number is None else number
        self.tokens = self.tokens if seen is None else seen
        return number is not None

    def _whole(self, value: Any, name: str) -> int | None:
        try:
            number = int(value)
            if number == value and 0 <= number <= wire.MAX_STEP:
                return number
        except (TypeError, ValueError, OverflowError, RuntimeError):
            pass
        self._recorder.tell(f"{name} must be a whole number of at least 0, not {value!r:.80}.")
        return None

    def _on_gradients(self, report: GradientReport) -> None:
        self._values |= report.values()
        if not report.finite:
            text = f"Step {self.step + 1} was not applied: its loss or gradients are not finite."
            data = {"level": "error", "text": text, "loss": report.loss, "norms": report.norms}
            self.event("message", data)

    def _show_saving(self, state: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if state == "writing" and self.phase == "training":
            self.phase = "saving"
        elif state != "writing" and self.phase == "saving" and self._looping:
            self.phase = "training"

    def _on_signal(self) -> None:
        if self._looping or self._finished:
            return
        if self.phase == "starting":
            self.mark("stopped")
            raise Stopped
        if self.phase == "training":  # a loop of the script's own: nobody else can end it
            raise SystemExit(128 + signal.SIGTERM)

    def _close(self, timeout_seconds: float) -> None:
        self._finished = True
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
