"""The learning rate of each update, as a function of its number alone.

So the rate after a resume is that of a run that was never interrupted, and the value shown for an
update is the one that it used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torch.optim import Optimizer


class Schedule:
    """Warmup, then cosine or linear decay to the minimum, or the peak held (three_part: until the decay); in updates.

    Args:
        settings: The config's `[optimizer]`.
        num_updates: Of the whole run.
    """

    def __init__(self, settings: Mapping[str, Any], num_updates: int) -> None:
        self.peak = float(settings["lr"])
        self.minimum = float(settings.get("min_lr", 0.0))
        self.num_warmup = int(settings.get("warmup_steps", 0))
        self.kind = str(settings.get("schedule", "cosine"))
        self.num_decay = int(settings.get("decay_steps", 0))
        self.num_updates = num_updates
        self.last_update = 0

    def rate(self, update: int) -> float:
        """Return the rate of an update; 1 is the first. It is never 0 during warmup."""
        if update <= self.num_warmup:
            return self.peak * update / (self.num_warmup + 1)
        if self.kind == "constant":
            return self.peak
        num_held = (
            self.num_updates - self.num_decay if self.kind == "three_part" else self.num_warmup
        )
        done = max(0, update - 1 - num_held)
        share = min(1.0, done / max(1, self.num_updates - num_held))
        left = (1 + math.cos(math.pi * share)) / 2 if self.kind == "cosine" else 1 - share
        return self.minimum + (self.peak - self.minimum) * left

    def set(self, optimizer: Optimizer, update: int) -> float:
        """Give the optimizer the rate of the update that comes, and return it."""
        rate = self.rate(update)
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.last_update = update
        return rate

    def state_dict(self) -> dict[str, Any]:
        """Return how far it has come."""
        return {"last_update": self.last_update, "kind": self.kind, "peak": self.peak}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there; peak and kind are those of the config."""
        self.last_update = int(state["last_update"])
