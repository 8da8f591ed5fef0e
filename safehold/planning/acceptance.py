"""Whether a run reached what its card asks for, metric by metric (CARD-6)."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from safehold.planning.card import Acceptance

Judgement = Literal["accepted", "not accepted", "not measured"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt
}  # fmt: skip
# A split that people call by several names; an evaluation is looked up under each.
_VALIDATION = ("validation", "val", "valid", "eval")


@dataclass(frozen=True)
class Measured:
    """The newest value of an evaluation and its step."""

    value: float
    step: int


@dataclass(frozen=True)
class Judged:
    """One metric of the card with what was measured."""

    acceptance: Acceptance
    measured: Measured | None
    judgement: Judgement

    @property
    def asked(self) -> str:
        """Return the bound as people write it."""
        return f"{self.acceptance.comparator} {self.acceptance.threshold:g}"


def names_of(acceptance: Acceptance) -> list[str]:
    """Return the metrics under which its evaluation may have been logged, the most exact first.

    `run.log_eval(name, split, value)` logs `<split>/<name>`.
    """
    metric, split = acceptance.metric, acceptance.split
    splits = dict.fromkeys([split, *(_VALIDATION if split in _VALIDATION else ())])
    names = [f"{one}/{metric}" for one in splits]
    return [*names, metric] if "/" in metric else names


def judge(
    acceptances: Sequence[Acceptance], measured: Mapping[str, Measured]
) -> tuple[Judged, ...]:
    """Return each metric with its judgement; what is not finite is not accepted.

    Args:
        acceptances: Of the card.
        measured: Newest value of each metric by its logged name.
    """
    return tuple(_judged(one, measured) for one in acceptances)


def verdict(judged: Sequence[Judged]) -> Judgement:
    """Return `accepted` where all hold, `not measured` where nothing failed but something is missing."""
    found = {one.judgement for one in judged}
    if "not accepted" in found:
        return "not accepted"
    return "accepted" if found == {"accepted"} else "not measured"


def _judged(acceptance: Acceptance, measured: Mapping[str, Measured]) -> Judged:
    found = next((measured[name] for name in names_of(acceptance) if name in measured), None)
    if found is None:
        return Judged(acceptance, None, "not measured")
    holds = isfinite(found.value) and _HOLDS[acceptance.comparator](
        found.value, acceptance.threshold
    )
    return Judged(acceptance, found, "accepted" if holds else "not accepted")
