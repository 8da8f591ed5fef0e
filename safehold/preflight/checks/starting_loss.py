"""With which loss a fresh network begins."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("PLAN-4.starting_loss", group="rules")
def starting_loss(facts: Facts) -> Iterator[Finding]:
    """The loss to begin with is the logarithm of the vocabulary."""
    yield from by_rules(facts, "starting_loss")
