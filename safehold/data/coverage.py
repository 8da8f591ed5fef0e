"""Was every sample used as often as planned? Asked of the ids that a run recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coverage:
    """Samples used too often and too rarely over whole epochs.

    Attributes:
        too_often: Numbers used more often than planned, in order.
        too_rarely: Numbers used less often than planned, in order.
        unknown: Ids that are no sample's number.
    """

    too_often: tuple[int, ...]
    too_rarely: tuple[int, ...]
    unknown: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Say whether every sample was used exactly as often as planned."""
        return not (self.too_often or self.too_rarely or self.unknown)


def check_coverage(ids: Iterable[int], num_samples: int, *, epochs: int = 1) -> Coverage:
    """Compare the ids of whole epochs with what each sample's use should be."""
    counts = Counter(ids)
    return Coverage(
        too_often=tuple(n for n in range(num_samples) if counts[n] > epochs),
        too_rarely=tuple(n for n in range(num_samples) if counts[n] < epochs),
        unknown=tuple(sorted(n for n in counts if not 0 <= n < num_samples)),
    )
