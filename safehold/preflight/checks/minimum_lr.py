"""Whether the rate ends where it should."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.minimum_lr", group="rules")
def minimum_lr(facts: Facts) -> Iterator[Finding]:
    """The minimum rate is a tenth to a thirtieth of the peak."""
    yield from by_rules(facts, "minimum_lr")
