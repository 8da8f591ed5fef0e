"""The rulebook in force: the rules as written, with the values that a project set instead."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from safehold.findings import Finding
from safehold.rulebook import families
from safehold.rulebook.base import Family, Rule, Values
from safehold.rulebook.judging import judge
from safehold.rulebook.situation import Situation


@dataclass(frozen=True)
class Rulebook:
    """All families, with the values of a project.

    Attributes:
        values: Rule id -> {"low", "high"} set instead of what is written.
    """

    families: tuple[Family, ...]
    values: Values = field(default_factory=dict)

    def rules(self) -> Iterator[Rule]:
        """Yield every rule as it is in force."""
        for family in self.families:
            yield from self.rules_of(family.name)

    def rules_of(self, name: str) -> tuple[Rule, ...]:
        """Return the rules of a family as they are in force."""
        family = next(one for one in self.families if one.name == name)
        return tuple(self._in_force(rule) for rule in family.rules)

    def rule(self, rule_id: str) -> Rule:
        """Return one rule as it is in force."""
        return next(rule for rule in self.rules() if rule.id == rule_id)

    def judge(self, name: str, situation: Situation) -> Iterator[Finding]:
        """Yield what the rules of a family say."""
        for finding in judge(self.rules_of(name), situation):
            is_own = finding.evidence.get("rule") in self.values
            yield replace(
                finding, evidence=finding.evidence | {"set_by": "project" if is_own else "default"}
            )

    def _in_force(self, rule: Rule) -> Rule:
        own = self.values.get(rule.id)
        return rule if own is None else replace(rule, low=own.get("low"), high=own.get("high"))


@cache
def written() -> Rulebook:
    """Return the rulebook as it is written, without any project's values."""
    names = sorted(module.name for module in pkgutil.iter_modules(families.__path__))
    modules = [importlib.import_module(f"{families.__name__}.{name}") for name in names]
    return Rulebook(tuple(module.FAMILY for module in modules))


def with_values(values: Mapping[str, Mapping[str, float | None]]) -> Rulebook:
    """Return the rulebook with a project's values; those of a rule that is no more are left out.

    Raises:
        ValueError: A lower bound lies above its upper one, or a rule of words was given numbers.
    """
    known = {rule.id: rule for rule in written().rules()}
    own = {name: dict(value) for name, value in values.items() if name in known}
    for name, value in own.items():
        check_value(known[name], value.get("low"), value.get("high"))
    return Rulebook(written().families, own)


def check_value(rule: Rule, low: float | None, high: float | None) -> None:
    """Pass, or say why these bounds cannot be those of a rule.

    Raises:
        ValueError: With the rule, the value and the bound.
    """
    if rule.words:
        raise ValueError(f"{rule.id} names words, {rule.span}; it has no bounds to set.")
    if low is None and high is None:
        raise ValueError(f"{rule.id} needs a lower or an upper bound.")
    for bound in (low, high):
        if bound is not None and not (0 <= bound < float("inf")):
            raise ValueError(
                f"{rule.id}: {bound} is no bound; it must be a finite number from 0 on."
            )
    if low is not None and high is not None and low > high:
        raise ValueError(f"{rule.id}: the lower bound {low:g} lies above the upper bound {high:g}.")
