"""The config of a pilot: that of the large training, with the network, the length and the devices of the small one."""

from collections.abc import Mapping
from math import gcd
from typing import Any

from safehold.planning.card import CardFields
from safehold.planning.network import Shape, parameter_count
from safehold.planning.pilots import NETWORK_SHARE, shape_near

# Written for another network or length; steps keep their share of the run.
_INTERVALS = ("eval_every",)
_CHECKPOINT_INTERVALS = ("anchor_every_steps", "snapshot_every_steps")


def config_for(document: Mapping[str, Any], small: CardFields, *, name: str) -> dict[str, Any]:
    """Return the document of the pilot's config; whatever is not about size stays as it was.

    Args:
        document: Canonical config of the large training.
        small: Card of the pilot.
        name: Of the new config.
    """
    train, network = dict(document["train"]), _network(document["network"], small)
    devices = _devices(document, small)
    train["global_batch"] = _batch(train, devices)
    tokens_per_step = train["global_batch"] * network["sequence_length"]
    steps = max(1, small.data.tokens // tokens_per_step) if small.data.tokens else train["steps"]
    share = steps / train["steps"]
    train["steps"] = steps
    return {
        **document,
        "name": name,
        "kind": "experiment",
        "network": network,
        "train": _scaled(train, _INTERVALS, share, steps),
        "optimizer": _warmed_up(document["optimizer"], share, steps),
        "checkpoint": _scaled(document["checkpoint"], _CHECKPOINT_INTERVALS, share, steps),
        "log": {**document["log"], "every": min(document["log"]["every"], steps)},
        "compute": {**document["compute"], "devices": devices, "nodes": 1},
    }


def _network(network: Mapping[str, Any], small: CardFields) -> dict[str, Any]:
    """Return the network of the card, or where the card gives no shape a tenth of the one that is there."""
    if small.network.layers:
        found = small.network
        changed = {"layers": found.layers, "hidden": found.hidden, "heads": found.heads}
    else:
        shape = Shape(layers=network["layers"], hidden=network["hidden"], heads=network["heads"],
                      vocabulary=network["vocabulary"], ffn_multiple=network["ffn_multiple"], tied=network["tied"])  # fmt: skip
        near = shape_near(shape, parameter_count(shape) * NETWORK_SHARE)
        changed = {"layers": near.layers, "hidden": near.hidden, "heads": near.heads}
    return {**network, **{name: value for name, value in changed.items() if value}}


def _devices(document: Mapping[str, Any], small: CardFields) -> int:
    """Return the fewest that the card plans with, and no more than the large training has."""
    return max(1, min(small.compute.devices or 1, int(document["compute"]["devices"])))


def _batch(train: Mapping[str, Any], devices: int) -> int:
    """Return the same global batch, or the next that devices and accumulation divide."""
    unit = devices * int(train["accumulation"])
    batch = int(train["global_batch"])
    return batch if gcd(batch, unit) == unit else -(-batch // unit) * unit


def _scaled(
    section: Mapping[str, Any], names: tuple[str, ...], share: float, steps: int
) -> dict[str, Any]:
    changed = {
        name: min(steps, max(1, round(section[name] * share)))
        for name in names
        if section.get(name)
    }
    return {**section, **changed}


def _warmed_up(optimizer: Mapping[str, Any], share: float, steps: int) -> dict[str, Any]:
    """Keep the shares of warmup and decay; at least one step is left for the schedule in between."""
    warmup = min(round(int(optimizer.get("warmup_steps") or 0) * share), steps - 1)
    changed = {"warmup_steps": warmup}
    if decay := int(optimizer.get("decay_steps") or 0):
        changed["decay_steps"] = max(1, min(round(decay * share), steps - warmup))
    return {**optimizer, **changed}
