"""What a rule is: the span of one quantity, where it holds, why, and who says so.

Rules are data. Those of one topic compete: the most specific one whose conditions hold decides.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from safehold.findings import Severity

Comparator = Literal["=", "!=", ">=", ">", "<="]
# Of two rules with equally many conditions: how it is trained says more than how large, that more than how long.
_WEIGHTS = {"schedule": 3, "method": 3, "precision": 3, "parameters": 2}
# Spans are typed by people: 3e-5 / 3e-4 is meant to be a tenth.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Condition:
    """One condition beyond stage and size: a quantity against a value."""

    quantity: str
    comparator: Comparator
    value: Any

    def holds(self, found: Any) -> bool:
        """Whether a known value meets it."""
        if self.comparator == "=":
            return bool(found == self.value)
        if self.comparator == "!=":
            return bool(found != self.value)
        if self.comparator == "<=":
            return bool(found <= self.value)
        return bool(found > self.value if self.comparator == ">" else found >= self.value)

    def __str__(self) -> str:
        value = f"{self.value:,}" if isinstance(self.value, int) else str(self.value)
        return f"{self.quantity} {self.comparator} {value}"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One span.

    Attributes:
        id: Stable name, `learning_rate.pretrain`; values of a project and findings refer to it.
        topic: Rules of one topic compete.
        quantity: What is held against the span; see `safehold.rulebook.quantities`.
        reason: Why, in a sentence for the person whose value lies outside.
        source: Where it is written down.
        stages: Where it holds; none: in every stage.
        min_parameters: From this size of the network on.
        max_parameters: Below this size.
        conditions: What must hold besides.
        low: Smallest value inside; None: no bound.
        high: Largest value inside; None: no bound.
        is_open: The bounds themselves lie outside.
        words: The words inside, of a quantity that is a word.
        below: What a value below the span means, where that is another thing than one above.
        above: What a value above it means.
        outside: What a value outside is: a warning, or a failure where it cannot work.
        advice: What to do about a value outside.
    """

    id: str
    topic: str
    quantity: str
    reason: str
    source: str
    stages: tuple[str, ...] = ()
    min_parameters: float = 0
    max_parameters: float = math.inf
    conditions: tuple[Condition, ...] = ()
    low: float | None = None
    high: float | None = None
    is_open: bool = False
    words: tuple[str, ...] = ()
    below: str = ""
    above: str = ""
    outside: Severity = "warn"
    advice: str = ""

    @property
    def family(self) -> str:
        """The file it lies in."""
        return self.id.partition(".")[0]

    @property
    def has_size(self) -> bool:
        """Whether it holds for some sizes only."""
        return self.min_parameters > 0 or math.isfinite(self.max_parameters)

    @property
    def specificity(self) -> tuple[float, ...]:
        """What orders the rules of a topic: number of conditions, their weight, how narrow stages and sizes are."""
        kinds = [one.quantity for one in self.conditions] + ["parameters"] * self.has_size
        return (
            len(kinds) + bool(self.stages),
            max((_WEIGHTS.get(kind, 1) for kind in kinds), default=0),
            -len(self.stages),
            -(math.log10(self.max_parameters) if math.isfinite(self.max_parameters) else 99)
            + (math.log10(self.min_parameters) if self.min_parameters > 0 else 0),
        )

    def contains(self, value: Any) -> bool:
        """Whether a value lies inside; the bounds do, unless the span is open."""
        return value in self.words if self.words else not self.side(value)

    def side(self, value: float) -> Literal["", "below", "above"]:
        """Say on which side of the span a number lies; empty: inside."""
        for bound, side, is_beyond in (
            (self.low, "below", self.low is not None and value < self.low),
            (self.high, "above", self.high is not None and value > self.high),
        ):
            if bound is not None and _same(value, bound):
                if self.is_open:
                    return side  # type: ignore[return-value]
            elif is_beyond:
                return side  # type: ignore[return-value]
        return ""

    @property
    def where(self) -> str:
        """Where it holds, in words."""
        words = [" or ".join(self.stages)] if self.stages else []
        if self.min_parameters > 0:
            words.append(f"N ≥ {shown(self.min_parameters)}")
        if math.isfinite(self.max_parameters):
            words.append(f"N < {shown(self.max_parameters)}")
        return ", ".join([*words, *map(str, self.conditions)]) or "everywhere"

    @property
    def span(self) -> str:
        """The span in words, without its unit."""
        if self.words:
            return " or ".join(self.words)
        if self.low is None:
            most = "below" if self.is_open else "at most"
            return "any" if self.high is None else f"{most} {shown(self.high)}"
        if self.high is None:
            return f"{'above' if self.is_open else 'at least'} {shown(self.low)}"
        return shown(self.low) if self.low == self.high else f"{shown(self.low)}–{shown(self.high)}"


@dataclass(frozen=True, kw_only=True)
class Family:
    """The rules of one file, and the check that asks them."""

    name: str
    requirement: str
    title: str
    rules: tuple[Rule, ...]

    @property
    def code(self) -> str:
        """The preflight check."""
        return f"{self.requirement}.{self.name}"


def shown(value: Any) -> str:
    """Return a number as people write it: 1e-4, 0.05, 2,000."""
    if isinstance(value, bool | str) or value is None:
        return str(value)
    if value == 0 or 0.001 <= abs(value) < 1e6:
        text = f"{value:,.4g}" if not float(value).is_integer() else f"{value:,.0f}"
        return text
    digits, _, exponent = f"{value:.3e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def _same(value: float, bound: float) -> bool:
    return math.isclose(value, bound, rel_tol=TOLERANCE, abs_tol=0)


Values = Mapping[str, Mapping[str, float | None]]
