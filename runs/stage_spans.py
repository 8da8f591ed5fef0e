"""The spans of hyper-parameters that a stage and a size ask for, as a card shows them (CARD-7)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from safehold.rulebook import QUANTITIES, Rule, Rulebook, written

# What a person chooses before there is a config; the rest speaks of configs that follow each other.
_CHOSEN = ("lr", "warmup share", "warmup", "minimum over peak", "beta2", "weight decay", "clip")


@dataclass(frozen=True)
class Span:
    """The span of one quantity, with where it holds, why, and who says so."""

    quantity: str
    title: str
    span: str
    unit: str
    reason: str
    source: str


def spans_of(
    stage: str, parameters: float, steps: int = 0, book: Rulebook | None = None
) -> list[Span]:
    """Return the most specific span of each topic for a usual training: a schedule that decays, all weights trained.

    Args:
        stage: Of the card.
        parameters: N; 0: not known, then rules for some sizes are left out.
        steps: Of the training; 0: not known, then rules for some lengths are left out.
        book: As it is in force in a project.
    """
    known: dict[str, Any] = {"schedule": "cosine", "method": "full"}
    known |= {"steps": steps} if steps else {}
    best: dict[str, Rule] = {}
    for rule in _applying(book or written(), stage, parameters, known):
        if rule.topic not in best or rule.specificity > best[rule.topic].specificity:
            best[rule.topic] = rule
    ordered = sorted(best.values(), key=lambda rule: _CHOSEN.index(rule.quantity))
    return [_span(rule) for rule in ordered]


def _applying(
    book: Rulebook, stage: str, parameters: float, known: Mapping[str, Any]
) -> Iterator[Rule]:
    for rule in book.rules():
        is_chosen = rule.quantity in _CHOSEN and rule.outside != "fail"
        is_here = not rule.stages or stage in rule.stages
        is_within = rule.min_parameters <= parameters < rule.max_parameters
        is_of_size = not rule.has_size or (parameters > 0 and is_within)
        if is_chosen and is_here and is_of_size and _holds(rule, known):
            yield rule


def _holds(rule: Rule, known: Mapping[str, Any]) -> bool:
    return all(one.quantity in known and one.holds(known[one.quantity]) for one in rule.conditions)


def _span(rule: Rule) -> Span:
    known = QUANTITIES[rule.quantity]
    return Span(rule.quantity, known.title, rule.span, known.unit, rule.reason, rule.source)
