"""The network's tensors under stable names: tied ones once, wrappers taken off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from safehold.checkpointing.errors import CheckpointError
from safehold.checkpointing.tensors import load_file
from safehold.manifest import Component, TensorEntry

_WRAPPERS = ("module", "_orig_mod")  # DistributedDataParallel, torch.compile


@dataclass(frozen=True, slots=True)
class NamedTensors:
    """Tensors by name; `aliases` maps each further name of a tied tensor to the one kept."""

    tensors: dict[str, Tensor]
    aliases: dict[str, str]


def bare(network: nn.Module) -> nn.Module:
    """Return the network without the wrappers that would change its names."""
    for name in _WRAPPERS:
        inner = getattr(network, name, None)
        if isinstance(inner, nn.Module) and type(network).__name__ in (
            "DistributedDataParallel", "DataParallel", "OptimizedModule",
        ):  # fmt: skip
            return bare(inner)
    return network


def named_tensors(network: nn.Module) -> NamedTensors:
    """Return parameters and persistent buffers; a tied one under its alphabetically first name.

    The order in which modules were created must not matter, so the first name by creation will not do.

    Raises:
        CheckpointError: the state holds something that is no tensor.
    """
    names: dict[int, list[str]] = {}
    state = bare(network).state_dict(keep_vars=True)
    for name, value in state.items():
        if not isinstance(value, Tensor):
            raise CheckpointError(
                f"The network's state {name!r} is {type(value).__name__}; only tensors are saved."
            )
        names.setdefault(id(value), []).append(name)
    kept = {min(group): state[group[0]] for group in names.values()}
    aliases = {name: min(group) for group in names.values() for name in group if name != min(group)}
    return NamedTensors(kept, aliases)


def structure_differences(
    saved: Component, current: Iterable[TensorEntry], aliases: dict[str, str]
) -> list[str]:
    """Return how the saved tensors differ from the network's, one clause each; empty if they fit."""
    before = {item.name: item for item in saved.tensors}
    now = {item.name: item for item in current}
    found = [f"{name} is saved, the network has none" for name in sorted(before.keys() - now)]
    found += [f"{name} is new in the network" for name in sorted(now.keys() - before)]
    found += [
        f"{name} is {before[name].dtype} {list(before[name].shape)} in the checkpoint and "
        f"{now[name].dtype} {list(now[name].shape)} in the network"
        for name in sorted(before.keys() & now)
        if before[name] != now[name]
    ]
    found += [
        f"{name} is tied to {saved.aliases.get(name)} in the checkpoint and to "
        f"{aliases.get(name)} in the network"
        for name in sorted({*saved.aliases, *aliases})
        if saved.aliases.get(name) != aliases.get(name)
    ]
    return found


@torch.no_grad()
def load_network(network: nn.Module, folder: Path, saved: Component) -> None:
    """Copy the saved tensors into the network in place; names and shapes were compared before."""
    tensors = named_tensors(network).tensors
    for path in saved.files:
        for name, tensor in load_file(folder, path):
            tensors[name].copy_(tensor)
