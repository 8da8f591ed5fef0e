"""Small trainings that tell before the large one what it will be like (CARD-8).

A pilot is the card shrunk: 1 % of the data with the mix kept, about a tenth of the network. A mix pilot trains a
network of about 1e9 parameters once for each mix, and the mixes are ranked by what the networks can do afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

from safehold.planning.card import Acceptance, CardFields
from safehold.planning.card_sums import parameters_of, shape_of
from safehold.planning.network import Shape, parameter_count

DATA_SHARE = 0.01
NETWORK_SHARE = 0.1
MIX_PILOT_PARAMETERS = 1e9
# A usual shape of that size, for a card that gives none.
_USUAL = Shape(layers=16, hidden=2048, vocabulary=50_304, heads=16)
# How much a departure from the proportions of the large network counts beside one from the wanted size; a guess.
_PROPORTION_WEIGHT = 0.3


def pilot_of(
    card: CardFields, *, data_share: float = DATA_SHARE, network_share: float = NETWORK_SHARE
) -> CardFields:
    """Return the card of a pilot.

    Args:
        card: The large one; what it does not know its pilot does not know either.
        data_share: Of the tokens, of each domain alike.
        network_share: Of the parameters.
    """
    parameters = parameters_of(card)
    return (
        _small(card, parameters * network_share, data_share)
        if parameters
        else _less_data(card, data_share)
    )


def mix_pilot_of(card: CardFields, *, data_share: float = DATA_SHARE) -> CardFields:
    """Return the card of a mix pilot: about 1e9 parameters, or the network itself where that is smaller."""
    parameters = parameters_of(card) or inf
    return _small(card, min(parameters, MIX_PILOT_PARAMETERS), data_share)


def shape_near(shape: Shape, parameters: float) -> Shape:
    """Return the shape with about so many parameters: heads of the same width, proportions kept where possible."""
    return min(_candidates(shape, parameters), key=lambda one: _distance(one, shape, parameters))


def _small(card: CardFields, parameters: float, data_share: float) -> CardFields:
    shape = shape_near(shape_of(card) or _USUAL, parameters)
    network = card.network.model_copy(
        update={
            "layers": shape.layers, "hidden": shape.hidden, "heads": shape.heads, "kv_heads": shape.kv_heads,
            "vocabulary": shape.vocabulary, "parameters": 0.0, "active_parameters": 0.0,
        }
    )  # fmt: skip
    return _less_data(card.model_copy(update={"network": network}), data_share)


def _less_data(card: CardFields, share: float) -> CardFields:
    data, compute, plan = card.data, card.compute, card.plan
    few = max(1, min(compute.devices, compute.devices_per_node)) if compute.devices else 0
    return card.model_copy(
        update={
            "data": data.model_copy(
                update={
                    "tokens": round(data.tokens * share),
                    "unique_tokens": round(data.unique_tokens * share),
                    "domains": {name: round(tokens * share) for name, tokens in data.domains.items()},
                }
            ),
            "compute": compute.model_copy(update={"devices": few, "budget_device_days": 0.0}),
            # What was measured on the large one says nothing of the small one, and it needs no spreading.
            "plan": plan.model_copy(
                update={"tensor_parallel": 1, "pipeline_parallel": 1, "step_seconds": 0.0, "save_seconds": 0.0}
            ),
        }
    )  # fmt: skip


def _candidates(shape: Shape, parameters: float) -> Iterator[Shape]:
    """Yield for each number of heads the depths around the wanted size."""
    heads = shape.heads or max(1, shape.hidden // 64)
    width = shape.hidden // heads
    shared = (
        heads // shape.kv_heads if shape.kv_heads else 1
    )  # heads of one group of keys and values
    for num_heads in range(shared, heads + 1, shared):
        hidden = num_heads * width
        base = _with(shape, layers=0, hidden=hidden, heads=num_heads)
        block = parameter_count(
            _with(base, layers=1, hidden=hidden, heads=num_heads)
        ) - parameter_count(base)
        exact = max(1.0, (parameters - parameter_count(base)) / block)
        for layers in {int(exact), int(exact) + 1}:
            yield _with(shape, layers=min(layers, shape.layers), hidden=hidden, heads=num_heads)


def _with(shape: Shape, *, layers: int, hidden: int, heads: int) -> Shape:
    kv_heads = shape.kv_heads and max(1, round(heads * shape.kv_heads / (shape.heads or heads)))
    while kv_heads and heads % kv_heads:
        kv_heads -= 1
    return Shape(
        layers=layers, hidden=hidden, vocabulary=shape.vocabulary, ffn_multiple=shape.ffn_multiple, tied=shape.tied,
        gated=shape.gated, heads=heads, kv_heads=kv_heads, experts=shape.experts,
        experts_per_token=shape.experts_per_token, shared_experts=shape.shared_experts,
    )  # fmt: skip


def _distance(found: Shape, shape: Shape, parameters: float) -> float:
    size = abs(log(parameter_count(found) / max(parameters, 1)))
    proportion = abs(log(found.hidden * shape.layers / (found.layers * shape.hidden)))
    return size + _PROPORTION_WEIGHT * proportion


@dataclass(frozen=True)
class MixResult:
    """One mix with what its training reached.

    Attributes:
        shares: Share of each domain in the tokens seen.
        values: By metric, of the acceptance metrics that were measured.
    """

    name: str
    shares: Mapping[str, float]
    values: Mapping[str, float]


@dataclass(frozen=True)
class RankedMix:
    """A mix in its place; `mean_rank` is over the metrics, the one that missed a metric is last there."""

    place: int
    mean_rank: float
    result: MixResult
    ranks: Mapping[str, int]


def ranked(results: Sequence[MixResult], metrics: Sequence[Acceptance]) -> list[RankedMix]:
    """Return the mixes by their mean rank over the downstream metrics, the best first; ties share a place.

    A mean of ranks asks for no common scale of perplexities and shares of right answers.
    """
    directions = {one.metric: one.comparator in {">", ">="} for one in metrics}
    ranks = [
        {metric: _rank(one, results, metric, is_more) for metric, is_more in directions.items()}
        for one in results
    ]
    means = [sum(one.values()) / len(one) if one else inf for one in ranks]
    found = [
        RankedMix(1 + sum(other < mean for other in means), mean, result, own)
        for result, own, mean in zip(results, ranks, means, strict=True)
    ]
    return sorted(found, key=lambda one: one.place)


def _rank(one: MixResult, all_of_them: Sequence[MixResult], metric: str, is_more: bool) -> int:
    def worth(result: MixResult) -> float:
        value = result.values.get(metric)
        if value is None or value != value:
            return -inf
        return value if is_more else -value

    return 1 + sum(worth(other) > worth(one) for other in all_of_them)
