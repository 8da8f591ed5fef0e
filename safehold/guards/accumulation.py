"""The micro-batches of one update: each loss divided by their number, one clipping after the last (CONF-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

Loss = TypeVar("Loss")


class Accumulation:
    """Counts the micro-batches of a step, and refuses what would train with another gradient than is meant.

    Only what happens between two steps of `run.steps` is counted; a script with a loop of its own is taken at its word.

    Args:
        config: The run config; the parts under `train` count.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        train = config.get("train")
        settings: Mapping[str, Any] = train if isinstance(train, Mapping) else {}
        self._count = int(settings.get("accumulation") or 1)
        self._divides = bool(settings.get("divide_loss", True))
        self._clips_at = str(settings.get("clip_at", "update"))
        self._is_counted = False
        self._num_losses = 0
        self._num_updates = 0

    def require_declared(self) -> None:
        """Pass, or say what the config declares wrong.

        Raises:
            ValueError: Micro-batches are added up undivided, or clipped one by one.
        """
        if self._count > 1 and not self._divides:
            raise ValueError(
                f"train.divide_loss is false with train.accumulation = {self._count}: the sum of the losses is "
                "not their mean. Divide each loss, and declare it."
            )
        if self._count > 1 and self._clips_at != "update":
            raise ValueError(
                f"train.clip_at is {self._clips_at!r} with train.accumulation = {self._count}: clip once, after the "
                "last micro-batch and before the update."
            )

    def begin(self) -> None:
        """Begin a step."""
        self._is_counted, self._num_losses, self._num_updates = True, 0, 0

    def scaled(self, loss: Loss) -> Loss:
        """Return the loss of one micro-batch over their number; no host sync.

        Raises:
            ValueError: There are more of them than the config says.
        """
        self._num_losses += 1
        if self._is_counted and self._num_losses > self._count:
            raise ValueError(
                f"This is micro-batch {self._num_losses} of the step; train.accumulation is {self._count}."
            )
        whole: Any = loss
        return cast(Loss, whole / self._count)

    def updated(self) -> None:
        """Note that the gradients were clipped for an update.

        Raises:
            ValueError: It is the second time in a step, or micro-batches are missing.
        """
        if not self._is_counted:
            return
        self._num_updates += 1
        if self._num_updates > 1 and self._count > 1:
            raise ValueError(
                "run.guard.after_backward was called twice in one step: clip once, after the last micro-batch."
            )
        if 0 < self._num_losses < self._count:
            raise ValueError(
                f"Only {self._num_losses} of {self._count} micro-batches were added up before the update."
            )
