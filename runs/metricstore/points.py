"""Points of one series as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
INT_COLUMNS = ("steps", "tokens", "times", "received")


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Arrays of one length `(n,)`.

    Attributes:
        steps: Optimizer steps done.
        tokens: Tokens seen; -1 = the sender did not know.
        times: The sender's clock, unix milliseconds.
        received: The server's clock at receipt, unix milliseconds.
        values: Float64; NaN and infinities as they are.
    """

    steps: Ints
    tokens: Ints
    times: Ints
    received: Ints
    values: Floats

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.steps.size)

    def take(self, which: NDArray[Any] | slice) -> Points:
        """Return the chosen points: a mask, positions, or a slice."""
        return Points(
            self.steps[which],
            self.tokens[which],
            self.times[which],
            self.received[which],
            self.values[which],
        )

    def sorted_by_step(self) -> Points:
        """Return them by rising step; equal steps stay in the order of arrival."""
        if self.size < 2 or bool(np.all(self.steps[1:] >= self.steps[:-1])):
            return self
        return self.take(np.argsort(self.steps, kind="stable"))

    def newest_of_each_step(self) -> Points:
        """Return one point a step, the one that arrived last; they must be sorted by step."""
        if self.size < 2:
            return self
        is_last = np.append(self.steps[1:] != self.steps[:-1], True)
        return self if bool(is_last.all()) else self.take(is_last)

    def each_once(self) -> Points:
        """Return them without those that were read twice; they must be sorted by step, and stay so."""
        if self.size < 2 or bool(np.all(self.steps[1:] != self.steps[:-1])):
            return self
        columns = [self.steps, self.tokens, self.times, self.received, self.values.view(np.int64)]
        _, first = np.unique(np.stack(columns, axis=1), axis=0, return_index=True)
        return self.take(np.sort(first))


def joined(parts: Sequence[Points]) -> Points:
    """Return all points of the parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return nothing()
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.received for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def nothing() -> Points:
    """Return no points."""
    none = np.zeros(0, dtype=np.int64)
    return Points(none, none, none, none, np.zeros(0, dtype=np.float64))
