"""What a card advises before anything is spent: the route (CARD-5), size and data, memory and parallelism."""

from collections.abc import Callable, Iterator

from safehold.findings import Finding, fail, info, warn
from safehold.planning.activations import CHECKPOINTING_DIVISOR
from safehold.planning.card import CardFields
from safehold.planning.card_sums import (
    compute_of,
    epochs_of,
    memory_of,
    nodes_of,
    parameters_of,
)
from safehold.planning.stages import defaults_of

ROUTE = "CARD-5.route"
# Hoffmann et al. 2022, https://arxiv.org/abs/2203.15556: about 20 tokens a parameter use the compute best.
TOKENS_PER_PARAMETER = 20
# Muennighoff et al. 2023, https://arxiv.org/abs/2305.16264: up to about 4 epochs repeated data are nearly as good.
MOST_EPOCHS = 4
# "Large": what a network of 1e9 parameters, the smallest that is worth the trouble, wants to see.
LARGE_TOKENS = 20_000_000_000
WEEKS_DAYS = 14
MOST_TENSOR_PARALLEL = 8


def advice_for(card: CardFields, stage: str) -> list[Finding]:
    """Return what speaks for and against the card as it stands; nothing of it blocks the writing of a card."""
    return [finding for rule in RULES for finding in rule(card, stage)]


def route(card: CardFields, stage: str) -> Iterator[Finding]:
    """Pretrain only with large private data of high quality, compute for weeks, and the whole skill set."""
    if stage != "pretrain":
        return
    needs = _needs(card)
    reasons = [failing for _, failing, holds in needs if holds is False]
    unknown = [topic for topic, _, holds in needs if holds is None]
    evidence = {"against": reasons, "not_known": unknown}
    if reasons:
        yield warn(
            f"Pretraining does not pay here: {'; '.join(reasons)}.",
            code=ROUTE, evidence=evidence,
            advice="Go on from a published checkpoint instead: continued training, or fine-tuning.",
        )  # fmt: skip
    elif unknown:
        yield info(
            f"Whether pretraining pays depends on what the card does not say yet: {'; '.join(unknown)}.",
            code=ROUTE, evidence=evidence,
        )  # fmt: skip


def tokens_for_size(card: CardFields, stage: str) -> Iterator[Finding]:
    """Too few tokens for N: shrink the network rather than repeat data."""
    parameters, tokens = parameters_of(card), card.data.tokens
    if stage != "pretrain" or not (parameters and tokens):
        return
    usable = min(tokens, card.data.unique_tokens * MOST_EPOCHS or tokens)
    if usable < TOKENS_PER_PARAMETER * parameters:
        fitting = usable / TOKENS_PER_PARAMETER
        yield warn(
            f"{_figure(usable / parameters)} tokens a parameter are fewer than about {TOKENS_PER_PARAMETER}.",
            code="CARD-5.tokens_for_size",
            evidence={"tokens_per_parameter": usable / parameters, "fitting_parameters": fitting},
            advice=f"Shrink the network to about {fitting:.2g} parameters rather than repeat data.",
        )


def repeats(card: CardFields, stage: str) -> Iterator[Finding]:
    """Data seen too often teach nothing more."""
    epochs = epochs_of(card)
    if stage in {"pretrain", "continued"} and epochs is not None and epochs > MOST_EPOCHS:
        yield warn(
            f"The unique tokens are seen {_figure(epochs)} times; beyond about {MOST_EPOCHS} repeats stop helping.",
            code="CARD-5.repeats",
            evidence={"epochs": epochs},
            advice="Gather more data, or see fewer tokens with a smaller network.",
        )


def domains_add_up(card: CardFields, stage: str) -> Iterator[Finding]:
    """The tokens by domain are those of the whole: seen, or unique."""
    total, data = sum(card.data.domains.values()), card.data
    wholes = [one for one in (data.tokens, data.unique_tokens) if one]
    if total and wholes and all(abs(total - one) > 0.01 * one for one in wholes):
        yield warn(
            f"The domains sum to {total:,} tokens, neither those seen nor the unique ones.",
            code="CARD-1.domains",
            evidence={"sum": total, "tokens": data.tokens, "unique_tokens": data.unique_tokens},
        )


def base_is_named(card: CardFields, stage: str) -> Iterator[Finding]:
    """All stages but pretraining go on from a checkpoint."""
    if defaults_of(stage).needs_base and not card.base_checkpoint:
        yield warn(
            "The card names no base checkpoint; this stage goes on from one.",
            code="CARD-7.base_checkpoint",
            advice="Give its number in the registry.",
        )


def memory_fits(card: CardFields, stage: str) -> Iterator[Finding]:
    """The network, its states and activations fit into a device."""
    memory = memory_of(card)
    if memory is None or memory.fit in {"unknown", "fits"}:
        return
    share = memory.total_bytes / memory.capacity_bytes
    told = f"{_figure(memory.total_bytes / 1e9)} GB of {_figure(memory.capacity_bytes / 1e9)} GB"
    say = fail if memory.fit == "does not fit" else warn
    word = (
        "does not fit into a device"
        if memory.fit == "does not fit"
        else "leaves less than 10 % of a device free"
    )
    yield say(
        f"The plan {word}: {told}.",
        code="PLAN-1.memory",
        evidence={"share": share},
        advice=_relief(card),
    )


def tensor_parallel_stays_in_a_node(card: CardFields, stage: str) -> Iterator[Finding]:
    """Tensor parallelism talks in every layer: above 8 devices, or across nodes, the network is too slow for it."""
    degree, within = card.plan.tensor_parallel, card.compute.devices_per_node
    if degree > min(MOST_TENSOR_PARALLEL, within):
        place = f"across nodes of {within}" if degree > within else f"above {MOST_TENSOR_PARALLEL}"
        yield warn(
            f"Tensor parallelism over {degree} devices is {place}: its all-reduces wait in every layer.",
            code="PLAN-1.tensor_parallel",
            evidence={"tensor_parallel": degree, "devices_per_node": within},
            advice=f"Use at most {min(MOST_TENSOR_PARALLEL, within)}, and pipeline or data parallelism beyond.",
        )


def budget_suffices(card: CardFields, stage: str) -> Iterator[Finding]:
    """The buffered estimate stays within what is granted, in device-days and in days."""
    compute = compute_of(card)
    if compute is None:
        return
    granted, days = card.compute.budget_device_days, card.compute.available_days
    if granted and compute.device_days > granted:
        yield warn(
            f"It takes {_figure(compute.device_days)} device-days without any loss; {_figure(granted)} are granted.",
            code="CARD-2.budget",
            evidence={"device_days": compute.device_days, "budget_device_days": granted},
        )
    if days and compute.wall_days_low > days:
        yield warn(
            f"With the usual buffer it takes {_figure(compute.wall_days_low)} to {_figure(compute.wall_days_high)} days;"
            f" the devices are there for {_figure(days)}.",
            code="CARD-2.time",
            evidence={"wall_days_low": compute.wall_days_low, "available_days": days},
        )


def _needs(card: CardFields) -> list[tuple[str, str, bool | None]]:
    """Return what pretraining asks for: topic, what is said where it fails, and whether it holds, if known."""
    data, compute = card.data, compute_of(card)
    tokens = data.unique_tokens or data.tokens
    devices_days = compute.wall_days if compute and card.compute.devices else 0
    days = card.compute.available_days or devices_days
    return [
        ("origin of the data", "the data are public", _is(data.origin, "private")),
        ("unique tokens", f"there are fewer than {LARGE_TOKENS / 1e9:.0f}e9 tokens", tokens >= LARGE_TOKENS if tokens else None),
        ("quality of the data", "the data are not of high quality", _is(data.quality, "high")),
        ("time on the devices", "compute does not last for weeks", days >= WEEKS_DAYS if days else None),
        ("skills of the team", "the team lacks a part of the skills", _is(card.team, "whole")),
    ]  # fmt: skip


def _is(value: str, wanted: str) -> bool | None:
    return value == wanted if value else None


def _relief(card: CardFields) -> str:
    """Return the cheapest thing that makes room and is not done yet."""
    plan, memory = card.plan, memory_of(card)
    if memory and memory.activations_bytes > memory.before_activations_bytes:
        if not plan.activation_checkpointing:
            return f"Checkpoint activations: they become at least {CHECKPOINTING_DIVISOR:.0f} times smaller."
        if plan.micro_batch > 1:
            return "Halve the micro-batch and double the accumulation."
    if plan.zero_stage < 3 and nodes_of(card) * card.compute.devices_per_node > 1:
        return f"Shard more: ZeRO stage {plan.zero_stage + 1}."
    return "Use more devices, tensor or pipeline parallelism, or a smaller network."


RULES: tuple[Callable[[CardFields, str], Iterator[Finding]], ...] = (
    route,
    tokens_for_size,
    repeats,
    domains_add_up,
    base_is_named,
    memory_fits,
    tensor_parallel_stays_in_a_node,
    budget_suffices,
)


def _figure(value: float) -> str:
    """Return three digits or more, never an exponent: 3,462 rather than 3.46e+03."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
