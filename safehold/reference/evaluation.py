"""Validation loss, overall and by domain, without disturbing the training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from safehold.checkpointing.network_state import bare
from safehold.checkpointing.random_state import preserved
from safehold.data.packed import Packed
from safehold.reference.network import loss_of
from safehold.reference.processes import Processes

# Enough for a steady value (standard error about 2 %), few enough to cost one or two steps.
_SEQUENCES_PER_DOMAIN = 32
_BATCH = 8


class Evaluation:
    """A fixed set of held-out sequences, the same at every evaluation, shared among the ranks."""

    def __init__(self, data: Packed, processes: Processes) -> None:
        self._data, self._processes = data, processes
        by_domain: dict[str, list[int]] = {}
        for number in range(len(data)):
            by_domain.setdefault(data.domain_of(number), []).append(number)
        self._numbers = {
            domain: _spread(numbers, _SEQUENCES_PER_DOMAIN)
            for domain, numbers in sorted(by_domain.items())
        }

    @torch.no_grad()
    def losses(self, network: nn.Module) -> dict[str, float]:
        """Return the mean loss by domain; every rank calls it, and every rank gets the same.

        Random state and training mode are left as they were.
        """
        inner = bare(network)
        training = inner.training
        inner.eval()
        with preserved():
            sums = {domain: self._sum(inner, numbers) for domain, numbers in self._numbers.items()}
        inner.train(training)
        totals = {domain: self._processes.total(value) for domain, value in sums.items()}
        return {domain: float(value[0] / value[1]) for domain, value in totals.items()}

    def _sum(self, network: nn.Module, numbers: list[int]) -> Tensor:
        """Return sum of losses and number of sequences of this rank, float64, shape `(2,)`."""
        value = torch.zeros(2, dtype=torch.float64, device=self._processes.device)
        for batch in _batches(numbers[self._processes.rank :: self._processes.world_size]):
            sequences = torch.from_numpy(self._data.sequences(batch)).to(self._processes.device)
            value += torch.stack(
                (loss_of(network, sequences), torch.ones((), device=value.device))
            ) * len(batch)
        return value


def mean(losses: dict[str, float]) -> float:
    """Return the mean over domains, each counting the same."""
    return sum(losses.values()) / len(losses)


def _spread(numbers: list[int], count: int) -> list[int]:
    places = np.linspace(0, len(numbers) - 1, min(count, len(numbers))).astype(int)
    return [numbers[place] for place in places]


def _batches(numbers: list[int]) -> Iterator[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    for start in range(0, len(numbers), _BATCH):
        yield np.array(numbers[start : start + _BATCH], dtype=np.int64)
