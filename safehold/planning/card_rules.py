"""Rules over several fields of a card: what cannot be, however it is meant. Each names the field to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from safehold.config.errors import ConfigError

if TYPE_CHECKING:
    from safehold.planning.card import CardFields


def broken_rules(card: CardFields) -> list[ConfigError]:
    """Return what contradicts itself in a card whose fields are each sound; all rules are asked."""
    return [error for rule in RULES for error in rule(card)]


def heads_divide_hidden(card: CardFields) -> Iterator[ConfigError]:
    """Each head gets the same part of the hidden size, and shared heads the same number of others."""
    network = card.network
    if network.heads and network.hidden % network.heads:
        yield ConfigError(
            "network.heads",
            f"{network.heads} heads do not divide the hidden size {network.hidden}.",
        )
    if network.kv_heads and network.heads % network.kv_heads:
        yield ConfigError(
            "network.kv_heads",
            f"{network.kv_heads} do not divide the {network.heads} heads.",
        )


def active_are_a_part(card: CardFields) -> Iterator[ConfigError]:
    """No token uses more parameters than there are."""
    network = card.network
    if network.parameters and network.active_parameters > network.parameters:
        yield ConfigError(
            "network.active_parameters",
            f"{network.active_parameters:g} are more than the {network.parameters:g} in total.",
        )


def experts_belong_to_a_mixture(card: CardFields) -> Iterator[ConfigError]:
    """Experts are named in a mixture only; a token goes through no more than there are."""
    network = card.network
    if network.experts and network.architecture != "moe":
        yield ConfigError(
            "network.experts", "A dense network has none.", 'Choose the architecture "moe".'
        )
    if network.experts_per_token > network.experts:
        yield ConfigError(
            "network.experts_per_token",
            f"A token cannot go through {network.experts_per_token} of {network.experts} experts.",
        )
    if network.experts and not network.experts_per_token:
        yield ConfigError(
            "network.experts_per_token", f"A token goes through at least one of {network.experts}."
        )


def parallelism_divides_devices(card: CardFields) -> Iterator[ConfigError]:
    """Tensor times pipeline parallelism divides the devices: the rest is data parallelism."""
    plan, devices = card.plan, card.compute.devices
    group = plan.tensor_parallel * plan.pipeline_parallel
    if devices and devices % group:
        yield ConfigError(
            "plan.tensor_parallel",
            f"{plan.tensor_parallel} x {plan.pipeline_parallel} stages = {group} do not divide {devices} devices.",
        )


def stages_have_layers(card: CardFields) -> Iterator[ConfigError]:
    """There are no more pipeline stages than layers."""
    layers, stages = card.network.layers, card.plan.pipeline_parallel
    if layers and stages > layers:
        yield ConfigError(
            "plan.pipeline_parallel", f"{stages} stages cannot share {layers} layers."
        )


def acceptance_is_asked_once(card: CardFields) -> Iterator[ConfigError]:
    """No bound of a metric stands twice."""
    seen = set()
    for number, one in enumerate(card.acceptance):
        key = (one.metric, one.split, one.comparator[0])
        if key in seen:
            yield ConfigError(
                f"acceptance.{number}", f"{one.metric} on {one.split} has such a bound already."
            )
        seen.add(key)


RULES: tuple[Callable[[CardFields], Iterator[ConfigError]], ...] = (
    heads_divide_hidden,
    active_are_a_part,
    experts_belong_to_a_mixture,
    parallelism_divides_devices,
    stages_have_layers,
    acceptance_is_asked_once,
)
