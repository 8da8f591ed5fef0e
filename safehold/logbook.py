"""What a run keeps of a training: metrics, evaluations, samples, events, gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from safehold import wire
from safehold.environment import Environment
from safehold.guards.accumulation import Accumulation, Loss
from safehold.journal import Journal
from safehold.recorder import Recorder, as_float, ids_of
from safehold.throughput import Meter

if TYPE_CHECKING:
    from safehold.guards.gradients import GradientGuard, GradientReport


class Logbook:
    """The part of a run that a script writes to in every step. Nothing here raises.

    Attributes:
        environment: What the launcher told.
        config: The canonical run config; empty where none was given.
        rank: Of this process.
        step: Optimizer steps done, as far as logged or iterated.
        tokens: Tokens seen so far, -1 while not known.
        phase: What goes on, for the heartbeat.
    """

    def __init__(self, found: Environment) -> None:
        self.environment = found
        self.config: dict[str, Any] = found.config
        self.rank = found.rank
        self.step = -1
        self.tokens = -1
        self.phase: wire.Phase = "starting"
        self._values: dict[str, float] = {}
        self._guard: GradientGuard | None = None
        self._accumulation = Accumulation(found.config)
        self._meter = Meter(found)
        self._recorder = Recorder(
            Journal(found.folder / "journal", found.rank, limit_bytes=found.journal_bytes)
        )

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
        merged = own | self._map_of(values) if self.rank == 0 or every_rank else own
        if batch_ids is None:
            self._recorder.points(self.step, self.tokens, merged)
        else:
            data = {"ids": ids_of(batch_ids)}
            self._recorder.points(self.step, self.tokens, merged, "batch_ids", data)

    def log_eval(
        self,
        name: str,
        split: str,
        value: Any,
        step: int | None = None,
        *,
        every_rank: bool = False,
    ) -> None:
        """Keep the result of an evaluation, also as the metric `<split>/<name>`.

        Like `log`, every rank may call it with the same value: that of rank 0 is kept.

        Args:
            name: Such as `loss` or `hellaswag`.
            split: Such as `validation`.
            value: One number, raw.
            step: That of the evaluated state; the current one by default.
            every_rank: Keep the value of this rank even where it is not rank 0.
        """
        if self.rank and not every_rank:
            return
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
            data = {"name": name, "items": _items_of(samples)}
            self._recorder.event("samples", data, at, self.tokens)

    def event(self, kind: wire.EventKind, data: dict[str, Any]) -> None:
        """Keep something that happened, at the current step."""
        self._recorder.event(kind, data, self.step, self.tokens)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Show the phase `evaluating` while an evaluation goes on; its time is no step time."""
        before, self.phase = self.phase, "evaluating"
        try:
            yield
        finally:
            self.phase = before
            self._meter.begin(self.step, self.tokens)

    @property
    def guard(self) -> GradientGuard:
        """Return the guard of the gradients (imports torch)."""
        if self._guard is None:
            from safehold.guards.gradients import GradientGuard

            clip = float(self.environment.setting("optimizer", "clip", 0.0) or 0.0)
            self._guard = GradientGuard(clip=clip, on_report=self._on_gradients)
        return self._guard

    def accumulate(self, loss: Loss) -> Loss:
        """Return the loss of one micro-batch over `train.accumulation`; its backward pass adds up to the mean.

        Raises:
            ValueError: The step has more micro-batches than the config says.
        """
        return self._accumulation.scaled(loss)

    def _map_of(self, values: Any) -> dict[Any, Any]:
        try:
            return dict(values)
        except (TypeError, ValueError):
            self._recorder.tell(f"The metrics of a step must be a map, not {values!r:.80}.")
            return {}

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
        self._accumulation.updated()
        self._values |= report.values()
        if not report.finite:
            text = f"Step {self.step + 1} was not applied: its loss or gradients are not finite."
            data = {"level": "error", "text": text, "loss": report.loss, "norms": report.norms}
            self.event("message", data)


def _items_of(samples: Any) -> list[Any]:
    """Return several samples as they are, and a single one as a list of it."""
    is_many = isinstance(samples, Sequence) and not isinstance(samples, str)
    return list(samples) if is_many else [samples]
