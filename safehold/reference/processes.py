"""The processes of a training: one rank each, nccl where there are GPUs, gloo elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True, slots=True)
class Processes:
    """This rank and its place among the others."""

    rank: int
    world_size: int
    local_rank: int
    device: torch.device

    def wrap(self, network: nn.Module) -> nn.Module:
        """Return the network on this rank's device, its gradients averaged over the ranks."""
        network = network.to(self.device)
        if self.world_size == 1:
            return network
        devices = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=devices)

    def mean(self, value: Tensor) -> Tensor:
        """Return the mean over all ranks, on every rank; a collective."""
        if self.world_size > 1:
            distributed.all_reduce(value)
            value = value / self.world_size
        return value

    def total(self, value: Tensor) -> Tensor:
        """Return the sum over all ranks, on every rank; a collective."""
        if self.world_size > 1:
            distributed.all_reduce(value)
        return value

    def wait(self) -> None:
        """Wait until every rank is here."""
        if self.world_size > 1:
            distributed.barrier()


@contextmanager
def started() -> Iterator[Processes]:
    """Join the other ranks as torchrun said, and leave them at the end."""
    rank, world_size = (int(os.environ.get(name, default)) for name, default in _DEFAULTS)
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", local_rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    if world_size > 1:
        distributed.init_process_group("nccl" if on_gpu else "gloo")
    yield Processes(rank, world_size, local_rank, device)
    # Not in a `finally`: after an error the other ranks may hang in a collective, and so would this.
    if world_size > 1:
        distributed.destroy_process_group()


_DEFAULTS = (("RANK", "0"), ("WORLD_SIZE", "1"))
