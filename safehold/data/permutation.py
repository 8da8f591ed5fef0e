"""A shuffle that is computed, not stored: any place of any epoch in constant time and memory.

A Feistel network is a bijection whatever its round function, so walking a slightly larger domain until
the value falls inside gives a permutation of exactly `size` numbers.

Source:
    Black and Rogaway 2002, "Ciphers with arbitrary finite domains" (cycle walking); the round
    function is SplitMix64's finalizer, Steele et al. 2014.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
_Words = NDArray[np.uint64]

# Luby and Rackoff need 4 rounds for a pseudorandom permutation; two more cost nothing here.
_NUM_ROUNDS = 6
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Permutation:
    """The numbers from 0 to `size - 1` in an order that seed and epoch decide.

    Raises:
        ValueError: `size` is not positive.
    """

    def __init__(self, size: int, *, seed: int, epoch: int) -> None:
        if size < 1:
            raise ValueError(f"A permutation needs at least one number, got {size}.")
        self.size = size
        self._half_bits = np.uint64(max(1, ((size - 1).bit_length() + 1) // 2))
        self._mask = (np.uint64(1) << self._half_bits) - np.uint64(1)
        self._keys = _keys(seed, epoch)

    def __call__(self, positions: Indices) -> Indices:
        """Return the numbers at these positions.

        Args:
            positions: Shape `(n,)`, each from 0 to `size - 1`.
        """
        values = self._mix(positions.astype(np.uint64))
        outside = values >= self.size
        while outside.any():
            values[outside] = self._mix(values[outside])
            outside = values >= self.size
        return values.astype(np.int64)

    def _mix(self, values: _Words) -> _Words:
        left, right = values >> self._half_bits, values & self._mask
        for key in self._keys:
            left, right = right, left ^ (_finalize(right ^ key) & self._mask)
        return (left << self._half_bits) | right


def _keys(seed: int, epoch: int) -> _Words:
    with np.errstate(over="ignore"):
        start = _finalize(np.array([seed & (2**64 - 1)], np.uint64) + _GOLDEN)
        start = _finalize(start ^ np.uint64(epoch & (2**64 - 1)) * _GOLDEN)
        return _finalize(start + _GOLDEN * np.arange(1, _NUM_ROUNDS + 1, dtype=np.uint64))


def _finalize(words: _Words) -> _Words:
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))
