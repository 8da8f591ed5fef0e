"""The optimizer's state by the names of parameters, never by their position.

File names: moments are `<kind>/<parameter>` in `optimizer.safetensors`; groups, settings and state that
is no tensor stand in `optimizer.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from safehold.checkpointing.errors import CheckpointError, RestoreError
from safehold.checkpointing.forms import is_optimizer
from safehold.checkpointing.network_state import bare

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OptimizerState:
    """Tensors by `<kind>/<parameter>`, and the rest as JSON."""

    tensors: dict[str, Tensor]
    document: Document


def parameter_names(network: nn.Module) -> dict[int, str]:
    """Return the name of each parameter by its id; of a tied one the alphabetically first."""
    names: dict[int, str] = {}
    for name, parameter in bare(network).named_parameters(remove_duplicate=False):
        names[id(parameter)] = min(name, names.get(id(parameter), name))
    return names


def capture(optimizer: Optimizer, network: nn.Module) -> OptimizerState:
    """Return the optimizer's whole state; tensors are those of the optimizer, not copies.

    Raises:
        CheckpointError: it holds a parameter that is not the network's, or a value JSON cannot hold.
    """
    names = parameter_names(network)
    tensors: dict[str, Tensor] = {}
    scalars: dict[str, dict[str, Any]] = {}
    for parameter, state in optimizer.state.items():
        name = _named(parameter, names)
        for kind, value in state.items():
            if isinstance(value, Tensor):
                tensors[f"{kind}/{name}"] = value
            else:
                scalars.setdefault(name, {})[kind] = _plain(f"{kind} of {name}", value)
    groups = [_group(group, names) for group in optimizer.param_groups]
    steps = {name: _step_of(state) for name, state in _by_name(optimizer, names).items()}
    return OptimizerState(
        tensors,
        {"class": type(optimizer).__name__, "groups": groups, "scalars": scalars, "steps": steps},
    )


def differences(document: Document, optimizer: Optimizer, network: nn.Module) -> list[str]:
    """Return how saved and current optimizer differ in kind, parameters and groups."""
    found = []
    kind = type(optimizer).__name__
    if document["class"] != kind:
        found.append(f"the optimizer was {document['class']} and is {kind}")
    names = parameter_names(network)
    before = {frozenset(group["parameters"]) for group in document["groups"]}
    now = {frozenset(_group(group, names)["parameters"]) for group in optimizer.param_groups}
    lost = sorted(frozenset().union(*before) - frozenset().union(*now))
    new = sorted(frozenset().union(*now) - frozenset().union(*before))
    found += [f"parameter {name} was optimized and is not now" for name in lost]
    found += [f"parameter {name} is optimized and was not" for name in new]
    if not found and before != now:
        found.append("the parameters are grouped in another way")
    return found


def load(
    optimizer: Optimizer,
    network: nn.Module,
    document: Document,
    tensors: Mapping[str, Tensor],
    *,
    keep_settings: bool,
) -> dict[str, list[Any]]:
    """Give the optimizer its saved state, by name.

    `Optimizer.load_state_dict` is not used: it goes by position, and casts moments to the dtype of
    the parameter.

    Args:
        optimizer: Its kind, parameters and groups were compared before.
        network: Gives the names.
        document: What `capture` returned.
        tensors: As `capture` returned them; loaded onto each parameter's device.
        keep_settings: A fork: learning rate, betas and so on stay as the current config says.

    Returns:
        Settings that differ from the saved ones, as `{name: [saved, in force]}`.
    """
    names = parameter_names(network)
    parameters = {
        names[id(parameter)]: parameter
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    optimizer.state.clear()
    for key, tensor in tensors.items():
        kind, _, name = key.partition("/")
        place = torch.device("cpu") if _stays_on_cpu(kind, optimizer) else parameters[name].device
        optimizer.state[parameters[name]][kind] = tensor.to(place)
    for name, values in document["scalars"].items():
        optimizer.state[parameters[name]].update(values)
    return _settings(optimizer, network, document, keep_settings=keep_settings)


def _settings(
    optimizer: Optimizer, network: nn.Module, document: Document, *, keep_settings: bool
) -> dict[str, list[Any]]:
    names = parameter_names(network)
    saved = {frozenset(group["parameters"]): group["settings"] for group in document["groups"]}
    overrides: dict[str, list[Any]] = {}
    for group in optimizer.param_groups:
        current = _group(group, names)
        before = saved[frozenset(current["parameters"])]
        for key, value in before.items():
            if keep_settings and current["settings"].get(key) != value:
                overrides[key] = [value, current["settings"].get(key)]
            elif not keep_settings:
                _set(group, key, value)
    return overrides


def _set(group: dict[str, Any], key: str, value: Any) -> None:
    old = group.get(key)
    if isinstance(old, Tensor):
        old.fill_(value)
    else:
        group[key] = tuple(value) if isinstance(value, list) else value


def _stays_on_cpu(kind: str, optimizer: Optimizer) -> bool:
    """Step counters lie on the CPU unless a fused or captured optimizer wants them on the device."""
    settings = optimizer.param_groups[0]
    return kind == "step" and not settings.get("fused") and not settings.get("capturable")


def _group(group: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    return {
        "parameters": [_named(parameter, names) for parameter in group["params"]],
        "settings": {
            key: _plain(f"setting {key}", value) for key, value in group.items() if key != "params"
        },
    }


def _by_name(optimizer: Optimizer, names: dict[int, str]) -> dict[str, dict[str, Any]]:
    return {_named(parameter, names): state for parameter, state in optimizer.state.items()}


def _step_of(state: dict[str, Any]) -> int | None:
    """Return how many updates this parameter had; a host sync where the counter is on a device."""
    step = state.get("step")
    return None if step is None else int(step)


def _named(parameter: Any, names: dict[int, str]) -> str:
    if id(parameter) not in names:
        raise CheckpointError(
            f"The optimizer holds a parameter of shape {list(parameter.shape)} that is not the "
            "network's. Pass the network whose parameters it optimizes."
        )
    return names[id(parameter)]


def _plain(what: str, value: Any) -> Any:
    if isinstance(value, Tensor) and value.numel() == 1:
        return value.item()
    if isinstance(value, list | tuple):
        return [_plain(what, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise CheckpointError(f"The optimizer's {what} is {type(value).__name__}; JSON cannot hold it.")


def check(document: Any) -> Document:
    """Return the document if it has the form that `capture` gives.

    Raises:
        RestoreError: it has not.
    """
    if not is_optimizer(document):
        raise RestoreError("optimizer.json is not what Safehold writes.")
    return document
