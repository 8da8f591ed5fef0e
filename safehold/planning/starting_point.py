"""Whether a network that goes on from a checkpoint keeps its architecture (CARD-7)."""

from collections.abc import Mapping
from typing import Any

from safehold.config.errors import ConfigError
from safehold.planning.card import CardFields

# What decides the tensors of a network. The sequence length is no part of it: it may be extended.
_ARCHITECTURE = (
    "architecture", "layers", "hidden", "heads", "kv_heads", "ffn_multiple", "gated", "experts", "experts_per_token",
    "shared_experts", "vocabulary", "tied",
)  # fmt: skip


def differences(network: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs from the base, by field: (here, there); what one side does not know differs in nothing."""
    shared = [name for name in _ARCHITECTURE if network.get(name) and base.get(name)]
    return {name: (network[name], base[name]) for name in shared if network[name] != base[name]}


def base_faults(card: CardFields, base: Mapping[str, Any]) -> list[ConfigError]:
    """Return where a card's network is another one than that of its base checkpoint."""
    found = differences(card.network.model_dump(), base)
    return [
        ConfigError(
            f"network.{name}",
            f"It is {here}; the base checkpoint {card.base_checkpoint} has {there}.",
            "Keep the architecture of the base.",
        )
        for name, (here, there) in found.items()
    ]
