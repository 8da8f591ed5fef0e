"""`Checkpointer`: what a training script calls to save its state and to go on from it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from torch import nn
from torch.optim import Optimizer

from safehold.checkpointing.background import Background
from safehold.checkpointing.errors import SaveError
from safehold.checkpointing.origin import Host, Origin
from safehold.checkpointing.places import Places, from_environment
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.reader import restore
from safehold.checkpointing.start import Start
from safehold.checkpointing.state import Captured, Parts, Stateful, capture
from safehold.checkpointing.weights import load_weights
from safehold.checkpointing.writer import announced, write_checkpoint
from safehold.manifest import Manifest, read

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Checkpointer:
    """Saves and restores one training; every method is called on every rank alike.

    Args:
        run: Gives the config and tells the registry.
        model: May be wrapped in DistributedDataParallel or compiled.
        optimizer: Of the model's parameters.
        scheduler: Ours or one of torch.
        sampler: Its state says where in the data the training is.
        scaler: A loss scaler, for 16-bit floats.
        places: Read from the environment where none are given.
        failures_allowed: So many saves in a row may fail in `maybe_save` before it raises.
    """

    def __init__(
        self,
        run: Host,
        *,
        model: nn.Module,
        optimizer: Optimizer,
        scheduler: Stateful | None = None,
        sampler: Stateful | None = None,
        scaler: Stateful | None = None,
        places: Places | None = None,
        failures_allowed: int = 2,
    ) -> None:
        self._run = run
        self._config = run.config
        self._parts = Parts(model, optimizer, scheduler, sampler, scaler)
        self._ranks = Ranks()
        self._places = self._agreed(places or from_environment(run.config))
        self._origin = Origin(run.config, self._places, self._ranks.size, self._parts.absent)
        self._background = Background()
        self._buffers: dict[str, Any] = {}
        self._failures_allowed = failures_allowed
        self._num_failures = 0
        self._saved: set[int] = set()
        self._start = Start()

    @property
    def start(self) -> Start:
        """Return where this training began."""
        return self._start

    def restore_or_start(self) -> Start:
        """Begin as the attempt was told to: afresh, from a checkpoint's whole state, or from its weights alone.

        Raises:
            RestoreError: it does not fit or is damaged; the fields or files are named.
        """
        if self._places.weights_from is not None:
            self._start = load_weights(
                self._ranks,
                self._places.weights_from,
                self._parts.model,
                self._origin.expected,
            )
            logger.info("checkpoint.weights_loaded", extra={"path": str(self._start.path)})
        elif self._places.resume_from is not None:
            self._start = restore(
                self._ranks,
                self._places.resume_from,
                self._parts,
                self._origin.expected,
                fork=self._places.fork,
            )
            logger.info("checkpoint.restored", extra={"path": str(self._start.path)})
        return self._start

    def maybe_save(self, step: int) -> Manifest | None:
        """Save where the config's intervals say so: an anchor at once, a snapshot in the background.

        Raises:
            SaveError: more saves in a row failed than are allowed. Fewer are told to the registry.
        """
        kind = self._due(step)
        if kind is None:
            return None
        self._tolerated(self.flush, step)  # a snapshot that failed since is a failure of its own
        return self._tolerated(lambda: self.save(step, kind=kind), step)

    def save(self, step: int, kind: str = "anchor") -> Manifest | None:
        """Save now; an anchor is on stable storage on return, a snapshot is on its way.

        Returns:
            The manifest of an anchor, on rank 0.

        Raises:
            SaveError: this save failed, or before a snapshot the snapshot before it; on every rank.
        """
        self._settle(kind)
        final = self._places.of_step(step)
        if step in self._saved:
            return self._already_saved(final)
        captured = self._ranks.agree_each(lambda: self._captured(step, kind), SaveError)
        if kind == "anchor":
            return self._write(captured, final)
        self._background.start(lambda: self._write(captured, final))
        return None

    def save_end(self, step: int) -> None:
        """Save the last step of a training, unless an interval fell on it and it is saved.

        Raises:
            SaveError: it failed, on every rank.
        """
        self._settle("anchor")
        if step not in self._saved:
            self.save(step)

    def flush(self) -> None:
        """Wait for a snapshot under way.

        Raises:
            SaveError: it failed; on every rank.
        """
        self._background.wait()

    def _settle(self, kind: str) -> None:
        """Wait for the snapshot before; its failure, told already, keeps no anchor from being written."""
        try:
            self.flush()
        except SaveError:
            if kind != "anchor":
                raise
            logger.exception("checkpoint.snapshot_failed")

    def _tolerated(self, act: Callable[[], T], step: int) -> T | None:
        """Do what may fail so often in a row."""
        try:
            return act()
        except SaveError:
            self._num_failures += 1
            if self._num_failures > self._failures_allowed:
                raise
            logger.exception("checkpoint.failed", extra={"step": step})
            return None

    def _captured(self, step: int, kind: str) -> Captured:
        captured = capture(
            self._parts, rank=self._ranks.rank, step=step, tokens=self._run.tokens, kind=kind
        )
        if kind == "anchor":
            return captured
        began = time.perf_counter()
        mine = captured.copied(self._buffers)
        logger.info("checkpoint.copied", extra={"seconds": time.perf_counter() - began})
        return mine

    def _due(self, step: int) -> str | None:
        settings = self._config.get("checkpoint") or {}
        for kind in ("anchor", "snapshot"):
            every = int(settings.get(f"{kind}_every_steps") or 0)
            if every > 0 and step > 0 and step % every == 0:
                return kind
        return None

    def _write(self, captured: Captured, final: Path) -> Manifest | None:
        origin = self._origin.fields(self._start)
        self._register(final, announced(captured, origin), "writing")
        try:
            manifest = write_checkpoint(self._ranks, captured, final, origin)
        except Exception as error:
            self._register(final, announced(captured, origin), "failed", str(error))
            raise
        self._saved.add(captured.step)
        self._num_failures = 0
        if manifest is not None:
            self._register(final, manifest, "complete")
        return manifest

    def _already_saved(self, final: Path) -> Manifest | None:
        """A step is saved once an attempt; a second wish for it (a snapshot, then a stop) is met."""
        manifest = self._ranks.agree_each(
            lambda: read(final) if self._ranks.rank == 0 else None, SaveError
        )
        if manifest is not None:
            self._register(final, manifest, "complete")
        return manifest

    def _register(
        self, final: Path, manifest: Manifest, state: str, error: str | None = None
    ) -> None:
        if self._ranks.rank == 0:
            self._run.register_checkpoint(
                path=str(final), manifest=manifest.to_dict(), state=state, error=error
            )

    def _agreed(self, places: Places) -> Places:
        """Take rank 0's attempt: without a launcher each rank would look for a free one."""
        return replace(places, attempt=self._ranks.gather(places.attempt)[0])
