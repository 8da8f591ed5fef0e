"""What the ranks of a training tell each other: small JSON values, over a gloo group of their own.

Never pickled objects, and never the group of the gradients: a save in a background thread must not
mix with the collectives of the step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import distributed

from safehold.checkpointing.errors import CheckpointError

T = TypeVar("T")


class Ranks:
    """The processes that save and load together; one alone where nothing is distributed."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        self._group: Any = None
        if distributed.is_available() and distributed.is_initialized():
            self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
            self._group = distributed.new_group(backend="gloo") if self.size > 1 else None

    def gather(self, value: Any) -> list[Any]:
        """Return every rank's value (JSON), on every rank; waits for all."""
        if self._group is None:
            return [value]
        content = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        length = torch.tensor([len(content)])
        lengths = [torch.zeros_like(length) for _ in range(self.size)]
        distributed.all_gather(lengths, length, group=self._group)
        longest = int(max(lengths))
        padded = torch.zeros(longest, dtype=torch.uint8)
        padded[: len(content)] = content
        all_padded = [torch.zeros_like(padded) for _ in range(self.size)]
        distributed.all_gather(all_padded, padded, group=self._group)
        return [
            json.loads(bytes(item[: int(count)].numpy()))
            for item, count in zip(all_padded, lengths, strict=True)
        ]

    def agree(self, action: Callable[[], Any], raising: type[CheckpointError]) -> list[Any]:
        """Run an action on every rank and return all results.

        Raises:
            CheckpointError: of the kind given, on *every* rank, if it failed on any.
        """
        result, message, cause = None, "", None
        try:
            result = action()
        except Exception as error:  # noqa: BLE001 whatever it is, the other ranks must hear of it
            message, cause = str(error) or type(error).__name__, error
        said = self.gather([result, message])
        if message := _failure([words for _, words in said]):
            raise raising(message) from cause
        return [item for item, _ in said]

    def agree_each(self, action: Callable[[], T], raising: type[CheckpointError]) -> T:
        """Run an action on every rank and return the own result, of any type.

        Raises:
            CheckpointError: as `agree` does.
        """
        results: list[T] = []
        self.agree(lambda: results.append(action()), raising)
        return results[0]


def _failure(said: Sequence[str]) -> str:
    """Return what the ranks say that failed, once where all say the same; empty where none does."""
    if len(set(said)) == 1:
        return said[0]
    return "; ".join(f"rank {rank}: {words}" for rank, words in enumerate(said) if words)
