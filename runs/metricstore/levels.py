"""Levels of detail: which points a thinned curve must keep, so that no spike and no NaN is lost.

Of every bucket of consecutive points the smallest and the largest finite value stay, and the first one that
is not finite; the coarse levels also keep first and last, which give the line its shape between buckets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runs.metricstore.codec import pack, pack_rows, unpack, unpack_rows
from runs.metricstore.points import INT_COLUMNS, Floats, Points, joined

FACTORS = (16, 256, 4096)
_ENDS_FROM = 256

Positions = NDArray[np.intp]


def kept(values: Floats, factor: int, *, ends: bool) -> Positions:
    """Return the rising positions that the buckets of `factor` points keep."""
    if values.size == 0:
        return np.zeros(0, np.intp)
    finite = np.isfinite(values)
    chosen = [
        _argmin(np.where(finite, values, np.inf), factor),
        _argmin(np.where(finite, -values, np.inf), factor),
        np.array([0, values.size - 1]),
    ]
    if not finite.all():
        first = _argmin(np.where(finite, 1.0, 0.0), factor)
        chosen.append(first[~finite[first]])
    if ends:
        starts = np.arange(0, values.size, factor)
        chosen += [starts, np.minimum(starts + factor, values.size) - 1]
    return np.unique(np.concatenate(chosen))


def not_finite_counts(values: Floats, factor: int) -> NDArray[np.int64]:
    """Return how many values of each bucket are not finite; empty where all are finite."""
    bad = ~np.isfinite(values)
    if not bad.any():
        return np.zeros(0, np.int64)
    counts: NDArray[np.int64] = np.add.reduceat(
        bad, np.arange(0, values.size, factor), dtype=np.int64
    )
    return counts


def reduced(points: Points, factor: int) -> Points:
    """Return what level `factor` keeps of the points; factor 1 keeps all."""
    if factor == 1 or points.size == 0:
        return points
    return points.take(kept(points.values, factor, ends=factor >= _ENDS_FROM))


def packed(points: Points, factor: int) -> bytes:
    """Return the stored form of level `factor`.

    The coarsest holds a few points of each chunk, and is read from as many chunks as a run has: as plain rows.
    """
    if factor == FACTORS[-1]:
        return pack_rows(reduced(points, factor))
    return pack(reduced(points, factor), not_finite_counts(points.values, factor))


def unpacked(
    stored: Sequence[bytes | memoryview], factor: int, wanted: Collection[str] = INT_COLUMNS
) -> Points:
    """Return the points of one level (1 = all points) of consecutive chunks, with the wanted columns."""
    if factor == FACTORS[-1]:
        return unpack_rows(b"".join(stored))
    return joined([unpack(data, wanted).points for data in stored])


def thinned(values: Floats, budget: int) -> Positions:
    """Return at most `budget` positions of finite values: each bucket's smallest and largest, and both ends."""
    if values.size <= budget:
        return np.arange(values.size)
    num_buckets = (budget - 2) // 2
    if num_buckets < 1:
        return np.unique(np.array([0, values.size - 1]))[-max(budget, 1) :]
    return kept(values, -(-values.size // num_buckets), ends=False)


def factor_for(num_points: int, budget: int) -> int:
    """Return the coarsest level whose buckets still outnumber those of the wanted curve."""
    fitting = [factor for factor in FACTORS if num_points // factor >= budget // 2]
    return max(fitting, default=1)


def _argmin(values: NDArray[Any], factor: int) -> Positions:
    """Return the position of the first smallest value of each bucket."""
    whole = values.size - values.size % factor
    rows = values[:whole].reshape(-1, factor)
    found: Positions = rows.argmin(axis=1) + np.arange(0, whole, factor)
    if whole == values.size:
        return found
    return np.append(found, whole + values[whole:].argmin())
