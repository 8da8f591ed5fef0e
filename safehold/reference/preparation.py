"""What the reference trainer settles before its first step."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.optim import AdamW


def refuse_what_is_not_here(config: Mapping[str, Any]) -> None:
    """Refuse what a config may ask for and this trainer does not do, rather than train something else.

    Raises:
        ValueError: With the field and its value.
    """
    here = {
        ("network", "architecture"): "dense",
        ("network", "gated"): False,
        ("network", "kv_heads"): 0,
        ("train", "method"): "full",
        ("train", "loss_scaling"): "dynamic",
        ("optimizer", "state_precision"): "fp32",
    }
    for (section, name), value in here.items():
        asked = config[section].get(name, value)
        if asked != value and not (
            name == "loss_scaling" and config["train"]["precision"] != "fp16"
        ):
            raise ValueError(
                f"{section}.{name} is {asked!r}; the reference trainer has only {value!r}."
            )


def make_optimizer(network: nn.Module, settings: Mapping[str, Any]) -> AdamW:
    """Return AdamW with weight decay on matrices only."""
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {
            "params": [p for p in parameters if p.dim() >= 2],
            "weight_decay": settings["weight_decay"],
        },
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return AdamW(
        groups, lr=settings["lr"], betas=tuple(settings["betas"]), eps=float(settings["eps"])
    )


def seed_everything(seed: int) -> None:
    """Seed python, numpy and torch, so that a run is the same whenever it is started."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
