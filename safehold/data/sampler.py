"""Which samples each update takes: one global order over all shards, drawn anew each epoch.

The order depends on seed, epoch and data alone, never on the number of ranks, and is computed from the
count of samples consumed: a resume goes on at that count, without reading what came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from safehold.data.permutation import Indices, Permutation


class SamplerError(ValueError):
    """A state that is not of this data or order; the message names the field."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank takes of a global batch: micro-batches of sample numbers.

    Attributes:
        step: The update that this batch is for: 1 for the first.
        ids: Of the whole global batch, in order; the same on every rank.
        mine: One array per micro-batch, of this rank.
    """

    step: int
    ids: Indices
    mine: tuple[Indices, ...]


class Sampler:
    """Hands out global batches; `consumed` is its whole position.

    Args:
        num_samples: Over all shards.
        global_batch: Samples of one update, all ranks and micro-batches together.
        seed: Decides the order of every epoch.
        data_version: Of the data that the numbers refer to.
        rank: Of this process.
        world_size: Ranks in all.
        accumulation: Micro-batches of a rank.

    Raises:
        ValueError: the batch cannot be shared evenly.
    """

    def __init__(
        self,
        num_samples: int,
        *,
        global_batch: int,
        seed: int,
        data_version: str = "",
        rank: int = 0,
        world_size: int = 1,
        accumulation: int = 1,
    ) -> None:
        if global_batch < 1:
            raise ValueError(f"A global batch has at least one sample, not {global_batch}.")
        if global_batch % (world_size * accumulation):
            raise ValueError(
                f"A global batch of {global_batch} cannot be shared by {world_size} ranks with "
                f"{accumulation} micro-batches each; make it a multiple of "
                f"{world_size * accumulation}."
            )
        if num_samples < 1:
            raise ValueError("There are no samples: the data are shorter than one sequence.")
        self.num_samples = num_samples
        self.global_batch = global_batch
        self.seed = seed
        self.data_version = data_version
        self.consumed = 0
        self._rank, self._world_size, self._accumulation = rank, world_size, accumulation

    @property
    def epoch(self) -> int:
        """Return how often all samples were used."""
        return self.consumed // self.num_samples

    @property
    def position(self) -> int:
        """Return how many samples of the current epoch were used."""
        return self.consumed % self.num_samples

    def ids_at(self, consumed: int, count: int) -> Indices:
        """Return the samples of a stretch of the global order; it may run on into the next epochs."""
        found, at, end = [], consumed, consumed + count
        while at < end:
            epoch, position = divmod(at, self.num_samples)
            length = min(end - at, self.num_samples - position)
            order = Permutation(self.num_samples, seed=self.seed, epoch=epoch)
            found.append(order(np.arange(position, position + length)))
            at += length
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def share_at(self, consumed: int) -> Share:
        """Return this rank's part of the batch that begins at a place of the global order."""
        ids = self.ids_at(consumed, self.global_batch)
        by_rank = ids.reshape(self._accumulation, self._world_size, -1)
        step = consumed // self.global_batch + 1
        return Share(step, ids, tuple(part[self._rank] for part in by_rank))

    def __iter__(self) -> Iterator[Share]:
        """Yield batch after batch from the current position, without end.

        The position moves on when a batch is handed out, so a state taken before the next one is
        asked for counts exactly the batches that were trained on.
        """
        while True:
            share = self.share_at(self.consumed)
            self.consumed += self.global_batch
            yield share

    def state_dict(self) -> dict[str, Any]:
        """Return the position as JSON holds it."""
        return {
            "seed": self.seed,
            "epoch": self.epoch,
            "position": self.position,
            "consumed": self.consumed,
            "num_samples": self.num_samples,
            "data_version": self.data_version,
            "order": "feistel-6",
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on at a saved position.

        Raises:
            SamplerError: the state is of other data, another seed or another kind of order.
        """
        mine = self.state_dict()
        for name in ("order", "seed", "num_samples", "data_version"):
            if state.get(name) != mine[name]:
                raise SamplerError(
                    f"The sampler's {name} was {state.get(name)!r} and is {mine[name]!r}: "
                    "the order of the data would not be the same."
                )
        consumed = state.get("consumed")
        if type(consumed) is not int or consumed < 0:
            raise SamplerError(f"The sampler's consumed is {consumed!r}, no count of samples.")
        self.consumed = consumed
