"""How many parameters a network has, by its shape."""

from dataclasses import dataclass
from math import log


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Shape of a dense decoder-only transformer.

    Attributes:
        ffn_multiple: Inner width over hidden size of a feed-forward part with two matrices; of a gated one with
            three matrices take 1.5 × its inner width over the hidden size.
        tied: Input and output embedding are one matrix.
    """

    layers: int
    hidden: int
    vocabulary: int
    ffn_multiple: float = 4.0
    tied: bool = True


def parameter_count(shape: Shape) -> int:
    """Return N of a dense network: embeddings, attention (4 h²), feed-forward (2 m h²), two norms a layer and a last.

    Biases and learned positions are left out: below 0.1 % from 100 million parameters on.

    Source:
        Kaplan et al. 2020, table 1, https://arxiv.org/abs/2001.08361
    """
    hidden = shape.hidden
    block = 4 * hidden**2 + round(2 * shape.ffn_multiple * hidden**2) + 2 * hidden
    embeddings = shape.vocabulary * hidden * (1 if shape.tied else 2)
    return embeddings + shape.layers * block + hidden


def starting_loss(vocabulary: int) -> float:
    """Return the loss of a network that knows nothing, ln(vocabulary) nats: 10.8 for 50,000.

    Raises:
        ValueError: There are fewer than two tokens.
    """
    if vocabulary < 2:
        raise ValueError(f"vocabulary is {vocabulary}; it must be at least 2.")
    return log(vocabulary)
