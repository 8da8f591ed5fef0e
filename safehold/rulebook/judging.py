"""From a situation to findings: of each topic the most specific rule that holds decides. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any

from safehold.findings import Finding, passed, unknown
from safehold.rulebook.base import Rule, shown
from safehold.rulebook.quantities import BY_NAME
from safehold.rulebook.situation import Situation


def judge(rules: Iterable[Rule], situation: Situation) -> Iterator[Finding]:
    """Yield a finding for every topic that says anything of the config.

    Args:
        rules: Those in force, of any number of topics.
        situation: The config and what is known around it.
    """
    topics: dict[str, list[Rule]] = {}
    for rule in rules:
        topics.setdefault(rule.topic, []).append(rule)
    for several in topics.values():
        yield from _of_topic(several, situation)


def deciding(rules: Iterable[Rule], situation: Situation) -> Rule | None:
    """Return the rule of one topic that decides; None where none holds."""
    holding = [rule for rule in rules if holds(rule, situation)]
    return max(holding, key=lambda rule: rule.specificity, default=None)


def holds(rule: Rule, situation: Situation, *, whatever_size: bool = False) -> bool:
    """Whether the conditions of a rule hold; one on a size that is not known does not."""
    if rule.stages and situation.config.stage not in rule.stages:
        return False
    for condition in rule.conditions:
        found = BY_NAME[condition.quantity].read(situation)
        if found is None or not condition.holds(found):
            return False
    if not rule.has_size or whatever_size:
        return True
    size = situation.parameters
    return size is not None and rule.min_parameters <= size < rule.max_parameters


def _of_topic(rules: list[Rule], situation: Situation) -> Iterator[Finding]:
    if situation.parameters is None and any(
        rule.has_size and holds(rule, situation, whatever_size=True) for rule in rules
    ):
        yield unknown(
            f"{BY_NAME[rules[0].quantity].title}: which span holds depends on the number of parameters, and the shape "
            "of a mixture without its number of experts does not give it.",
            evidence={"field": BY_NAME[rules[0].quantity].field, "topic": rules[0].topic},
            advice="Tell network.experts and network.experts_per_token.",
        )
    rule = deciding(rules, situation)
    if rule is None:
        return
    value = BY_NAME[rule.quantity].read(situation)
    if value is None or (rule.topic.endswith(".limit") and rule.contains(value)):
        return  # that a value is not absurd is no news
    yield _finding(rule, value, situation)


def _finding(rule: Rule, value: Any, situation: Situation) -> Finding:
    quantity = BY_NAME[rule.quantity]
    unit = f" {quantity.unit}" if quantity.unit else ""
    evidence = {
        "field": quantity.field, "rule": rule.id, "value": value, "span": f"{rule.span}{unit}", "low": rule.low,
        "high": rule.high, "where": rule.where, "source": rule.source,
    } | (quantity.details(situation) if quantity.details else {})  # fmt: skip
    told = f"{quantity.title} is {shown(value)}{unit}"
    span = f"{rule.span}{unit} ({rule.where})"
    if rule.contains(value):
        within = f", within {span}" if _is_news(rule) else ""
        return passed(f"{told}{within}.", evidence=evidence)
    side = "" if rule.words else rule.side(value)
    reason = {"below": rule.below, "above": rule.above}.get(side, "") or rule.reason
    wanted = f"it should be {rule.span}" if rule.words else f"the span is {span}"
    advice = rule.advice or f"Choose a value within {rule.span}{unit}, or say why not."
    return Finding("", rule.outside, f"{told}; {wanted}. {reason}", evidence, advice)


def _is_news(rule: Rule) -> bool:
    """Whether the span tells anything of a value inside: not that of a word, nor one without an end."""
    return not rule.words and (rule.high is not None or bool(rule.low))
