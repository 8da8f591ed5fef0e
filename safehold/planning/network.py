"""How many parameters a network has, by its shape, and the loss it starts with."""

from dataclasses import dataclass
from math import isfinite, log
from typing import Literal

# Outside of these shares of ln(V) a first loss is no accident of initialisation: GPT-2's, for instance, begins
# within 3 % of it. The exact bounds are a guess.
FAR_BELOW, FAR_ABOVE = 0.8, 1.2

StartVerdict = Literal["as expected", "far below", "far above"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Shape of a decoder-only transformer, dense or with experts in every layer.

    Attributes:
        ffn_multiple: Inner width of a feed-forward part, or of one expert, over hidden size.
        tied: Input and output embedding are one matrix.
        gated: A feed-forward part has three matrices (SwiGLU) instead of two.
        heads: Attention heads; only asked for together with `kv_heads`.
        kv_heads: Heads of keys and values; 0: as many as `heads`.
        experts: Feed-forward parts of a layer that tokens are routed among; 0: dense.
        experts_per_token: How many of them a token goes through.
        shared_experts: Further ones that every token goes through.
    """

    layers: int
    hidden: int
    vocabulary: int
    ffn_multiple: float = 4.0
    tied: bool = True
    gated: bool = False
    heads: int = 0
    kv_heads: int = 0
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0


def parameter_count(shape: Shape) -> int:
    """Return N: embeddings, attention (4 h²), feed-forward (2 m h²), routers, two norms a layer and a last.

    Biases and learned positions are left out: below 0.1 % from 100 million parameters on.

    Source:
        Kaplan et al. 2020, table 1, https://arxiv.org/abs/2001.08361
    """
    return _count(shape, shape.experts + shape.shared_experts)


def active_parameter_count(shape: Shape) -> int:
    """Return the parameters that one token goes through; of a dense network that is all of N."""
    return _count(shape, shape.experts_per_token + shape.shared_experts)


def starting_loss(vocabulary: int) -> float:
    """Return the loss of a network that knows nothing, ln(vocabulary) nats: 10.8 for 50,000.

    Raises:
        ValueError: There are fewer than two tokens.
    """
    if vocabulary < 2:
        raise ValueError(f"vocabulary is {vocabulary}; it must be at least 2.")
    return log(vocabulary)


def judge_start(
    first_loss: float,
    vocabulary: int,
    low: float | None = FAR_BELOW,
    high: float | None = FAR_ABOVE,
) -> StartVerdict:
    """Return how the first loss of a training from scratch stands to ln(vocabulary) (PLAN-4).

    Far below: the network has seen what it is tested on, so evaluation data may overlap training data. Far above:
    initialisation or labels are wrong. `low` and `high` are shares of ln(vocabulary): a project may set its own.
    """
    share = first_loss / starting_loss(vocabulary)
    if low is not None and share < low:
        return "far below"
    return "as expected" if isfinite(share) and (high is None or share <= high) else "far above"


def _count(shape: Shape, num_experts: int) -> int:
    hidden = shape.hidden
    matrices = 3 if shape.gated else 2
    ffn = round(matrices * shape.ffn_multiple * hidden**2)
    if shape.experts:
        ffn = ffn * num_experts + hidden * shape.experts
    block = _attention(shape) + ffn + 2 * hidden
    embeddings = shape.vocabulary * hidden * (1 if shape.tied else 2)
    return embeddings + shape.layers * block + hidden


def _attention(shape: Shape) -> int:
    """Queries and output take h² each, keys and values a part of that where heads share them."""
    hidden = shape.hidden
    if not (shape.kv_heads and shape.heads):
        return 4 * hidden**2
    return 2 * hidden**2 + 2 * hidden * (hidden * shape.kv_heads // shape.heads)
