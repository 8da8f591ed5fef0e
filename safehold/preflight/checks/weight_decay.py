"""Whether the weight decay is a usual one."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.weight_decay", group="rules")
def weight_decay(facts: Facts) -> Iterator[Finding]:
    """The weight decay lies within its span."""
    yield from by_rules(facts, "weight_decay")
