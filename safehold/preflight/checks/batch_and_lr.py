"""Whether batch and rate grew together as they may."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-6.batch_and_lr", group="rules")
def batch_and_lr(facts: Facts) -> Iterator[Finding]:
    """A larger batch takes at most the root of its growth in rate, and a longer warmup."""
    yield from by_rules(facts, "batch_and_lr")
