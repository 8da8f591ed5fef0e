"""A small GPT: pre-norm, rotary positions, optionally tied embeddings.

Legend: B batch, T tokens of a sequence, D hidden, H heads, K dimensions of a head, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Vaswani et al. 2017 used 10000 for the wavelengths; Su et al. 2021 (RoFormer) kept it.
_ROTARY_BASE = 10_000.0
# GPT-2's initialisation, Radford et al. 2019, section 2.3.
_INIT_STD = 0.02


class Network(nn.Module):
    """Predicts the next token.

    Args:
        settings: The config's `[network]`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__()
        hidden, heads = int(settings["hidden"]), int(settings["heads"])
        inner = int(hidden * float(settings.get("ffn_multiple", 4.0)))
        self.embed = nn.Embedding(int(settings["vocabulary"]), hidden)
        self.blocks = nn.ModuleList(
            Block(hidden, heads, inner) for _ in range(int(settings["layers"]))
        )
        self.norm = nn.RMSNorm(hidden)
        self.output = nn.Linear(hidden, int(settings["vocabulary"]), bias=False)
        self.register_buffer(
            "rotary", _rotary(int(settings["sequence_length"]), hidden // heads), persistent=False
        )
        self.apply(_initialise)
        for block in self.blocks:
            _scale_down(block, int(settings["layers"]))
        if settings.get("tied", True):
            self.output.weight = self.embed.weight

    def forward(self, tokens_BT: Tensor) -> Tensor:
        """Return logits, shape `(B, T, V)`."""
        x_BTD = self.embed(tokens_BT)
        rotary = self.get_buffer("rotary")[: tokens_BT.shape[1]]
        for block in self.blocks:
            x_BTD = block(x_BTD, rotary)
        logits_BTV: Tensor = self.output(self.norm(x_BTD))
        return logits_BTV


class Block(nn.Module):
    """Attention and feed-forward, each after a norm and added to its input."""

    def __init__(self, hidden: int, heads: int, inner: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(hidden)
        self.attention = Attention(hidden, heads)
        self.ffn_norm = nn.RMSNorm(hidden)
        self.ffn = nn.Sequential(
            nn.Linear(hidden, inner, bias=False), nn.GELU(), nn.Linear(inner, hidden, bias=False)
        )

    def forward(self, x_BTD: Tensor, rotary_TK: Tensor) -> Tensor:
        """Return the same shape."""
        x_BTD = x_BTD + self.attention(self.attention_norm(x_BTD), rotary_TK)
        result: Tensor = x_BTD + self.ffn(self.ffn_norm(x_BTD))
        return result


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=False)
        self.project = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x_BTD: Tensor, rotary_TK: Tensor) -> Tensor:
        """Return the same shape."""
        batch, length, hidden = x_BTD.shape
        parts = self.qkv(x_BTD).view(batch, length, 3, self.heads, hidden // self.heads)
        q_BHTK, k_BHTK, v_BHTK = parts.permute(2, 0, 3, 1, 4)
        mixed_BHTK = functional.scaled_dot_product_attention(
            _rotate(q_BHTK, rotary_TK), _rotate(k_BHTK, rotary_TK), v_BHTK, is_causal=True
        )
        result: Tensor = self.project(mixed_BHTK.transpose(1, 2).reshape(batch, length, hidden))
        return result


def loss_of(network: nn.Module, sequences: Tensor) -> Tensor:
    """Return the mean loss of predicting each next token.

    Args:
        network: May be wrapped.
        sequences: int64, shape `(B, T + 1)`.

    Returns:
        Shape `()`, float32.
    """
    logits_BTV = network(sequences[:, :-1])
    return functional.cross_entropy(logits_BTV.flatten(0, 1).float(), sequences[:, 1:].flatten())


def num_parameters(network: nn.Module) -> int:
    """Return the number of weights; a tied one counts once."""
    return sum(parameter.numel() for parameter in network.parameters())


def _rotary(length: int, size: int) -> Tensor:
    """Return cosines and sines side by side, float32, shape `(length, size)`."""
    frequencies = _ROTARY_BASE ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), frequencies)
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def _rotate(x_BHTK: Tensor, rotary_TK: Tensor) -> Tensor:
    cos, sin = rotary_TK.chunk(2, dim=-1)
    first, second = x_BHTK.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1).to(
        x_BHTK.dtype
    )


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=_INIT_STD)


def _scale_down(block: nn.Module, layers: int) -> None:
    """Keep the sum over all blocks at the size of one (GPT-2)."""
    for name, parameter in block.named_parameters():
        if name.endswith(("project.weight", "ffn.2.weight")):
            nn.init.normal_(parameter, std=_INIT_STD / (2 * layers) ** 0.5)
