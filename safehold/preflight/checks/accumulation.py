"""Whether micro-batches are added up to the gradient that is meant."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-7.accumulation", group="rules")
def accumulation(facts: Facts) -> Iterator[Finding]:
    """The loss is divided by the accumulation count, and clipped once before the update."""
    yield from by_rules(facts, "accumulation")
