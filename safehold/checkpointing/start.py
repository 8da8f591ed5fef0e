"""Where a training begins: afresh, at a checkpoint, or with the weights of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Start:
    """Where the training begins.

    Attributes:
        step: Optimizer steps done; 0 at the beginning of a run.
        path: The checkpoint that something was taken over from.
        takes: `state`: everything, the training goes on where it was; `weights`: the network alone, all else begins
            anew; empty: nothing.
        notes: What could not be restored exactly, one sentence each.
        overrides: On a fork, settings in force that differ from the saved ones: `[saved, now]`.
    """

    step: int = 0
    tokens: int = 0
    path: Path | None = None
    notes: tuple[str, ...] = ()
    overrides: dict[str, list[Any]] = field(default_factory=dict)
    takes: Literal["", "state", "weights"] = ""

    @property
    def resumed(self) -> bool:
        """Say whether the training goes on where a checkpoint left it."""
        return self.takes == "state"
