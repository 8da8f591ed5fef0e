"""The loop over steps: fetch, train, obey."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from safehold.obedience import Obedience
from safehold.throughput import Meter

T = TypeVar("T")


class Position(Protocol):
    """Where the training is."""

    step: int
    tokens: int


def iterate(
    position: Position,
    obedience: Obedience,
    meter: Meter,
    loader: Iterable[T],
    done: int,
    stop: int | None,
) -> Iterator[tuple[int, T]]:
    """Yield step numbers with batches; between steps do what was agreed.

    Args:
        position: Is kept up to date.
        obedience: Asked before the first step and after each.
        meter: Told how long the data took.
        loader: Gives the batches.
        done: Steps done before.
        stop: Last step, if any.
    """
    step = done
    if obedience.boundary(step):
        return
    batches = iter(loader)
    while stop is None or step < stop:
        began = time.perf_counter()
        try:
            batch = next(batches)
        except StopIteration:
            return
        meter.waited(time.perf_counter() - began)
        step += 1
        yield step, batch
        position.step = step
        if obedience.boundary(step):
            return
