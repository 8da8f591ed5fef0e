"""Whether the warmup is long enough, and not too long."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.warmup", group="rules")
def warmup(facts: Facts) -> Iterator[Finding]:
    """The warmup lies within the span of stage, size and schedule."""
    yield from by_rules(facts, "warmup")
