"""One rank's part of a training's state, taken at one moment."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from torch import Tensor, nn
from torch.optim import Optimizer

from safehold.checkpointing import network_state, optimizer_state, random_state
from safehold.checkpointing.errors import CheckpointError
from safehold.checkpointing.names import (
    MODEL_FILE,
    MOMENTS_FILE,
    OPTIMIZER_FILE,
    SCALER_FILE,
    SCHEDULER_FILE,
    rank_file,
)
from safehold.checkpointing.network_state import NamedTensors
from safehold.checkpointing.tensors import chunks_of
from safehold.checkpointing.values import to_json


class Stateful(Protocol):
    """A scheduler, sampler or scaler: its state is a map that JSON can hold."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state: dict[str, Any], /) -> object:
        """Take the state."""


@dataclass(frozen=True)
class Parts:
    """What makes up the state of a training."""

    model: nn.Module
    optimizer: Optimizer
    scheduler: Stateful | None = None
    sampler: Stateful | None = None
    scaler: Stateful | None = None

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the parts that the script has not; a loss scaler need not exist."""
        return tuple(name for name in ("scheduler", "sampler") if getattr(self, name) is None)


@dataclass(frozen=True)
class Captured:
    """The state of one rank at one step; only rank 0 holds tensors.

    Attributes:
        documents: JSON files of this rank, by name.
        rng_digest: Of the random state in memory, to be compared with what is read back.
    """

    step: int
    tokens: int
    kind: str
    documents: dict[str, dict[str, Any]]
    rng_digest: str
    model: NamedTensors = field(default_factory=lambda: NamedTensors({}, {}))
    moments: dict[str, Tensor] = field(default_factory=dict)

    def files(self) -> Iterator[tuple[str, Iterator[bytes | memoryview]]]:
        """Yield the name and the pieces of each file that this rank writes."""
        metadata = {"step": str(self.step)}
        if self.model.tensors:
            yield MODEL_FILE, chunks_of(self.model.tensors, metadata)
            yield MOMENTS_FILE, chunks_of(self.moments, metadata)
        for name, document in self.documents.items():
            yield name, iter([_encode(name, document)])

    def copied(self, buffers: dict[str, Tensor]) -> Captured:
        """Return the same state in memory of its own, so that training can go on.

        Args:
            buffers: Kept from snapshot to snapshot: fresh memory costs more than the copy.
        """
        return replace(
            self,
            documents=copy.deepcopy(self.documents),  # a part may go on with what it handed out
            model=replace(self.model, tensors=_copied(self.model.tensors, buffers, "model")),
            moments=_copied(self.moments, buffers, "moments"),
        )


def capture(parts: Parts, *, rank: int, step: int, tokens: int, kind: str) -> Captured:
    """Take this rank's part of the state; tensors are not copied.

    Raises:
        CheckpointError: something in it cannot be saved.
    """
    rng = random_state.capture()
    documents: dict[str, dict[str, Any]] = {
        rank_file("rng", rank): {"step": step, "rank": rank, "state": rng}
    }
    if parts.sampler is not None:
        state = to_json(parts.sampler.state_dict())
        documents[rank_file("sampler", rank)] = {"step": step, "rank": rank, "state": state}
    captured = Captured(step, tokens, kind, documents, random_state.digest_of(rng))
    return _with_shared(captured, parts) if rank == 0 else captured


def _with_shared(captured: Captured, parts: Parts) -> Captured:
    """Add what is the same on all ranks and is saved by rank 0."""
    optimizer = optimizer_state.capture(parts.optimizer, parts.model)
    documents = {
        **captured.documents,
        OPTIMIZER_FILE: {"step": captured.step, **optimizer.document},
    }
    for name, part in ((SCHEDULER_FILE, parts.scheduler), (SCALER_FILE, parts.scaler)):
        if part is not None:
            documents[name] = {"step": captured.step, "state": to_json(part.state_dict())}
    return replace(
        captured,
        documents=documents,
        model=network_state.named_tensors(parts.model),
        moments=optimizer.tensors,
    )


def _encode(name: str, document: dict[str, Any]) -> bytes:
    try:
        return json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"The state for {name} cannot be JSON: {error}.") from error


def _copied(tensors: dict[str, Tensor], buffers: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name: _copy(tensor, buffers, f"{part}/{name}") for name, tensor in tensors.items()}


def _copy(tensor: Tensor, buffers: dict[str, Tensor], key: str) -> Tensor:
    """Copy into a buffer on the CPU; a host sync where the tensor is on a device."""
    buffer = buffers.get(key)
    if buffer is None or buffer.shape != tensor.shape or buffer.dtype != tensor.dtype:
        buffer = buffers[key] = tensor.detach().new_empty(tensor.shape, device="cpu")
    return buffer.copy_(tensor.detach())
