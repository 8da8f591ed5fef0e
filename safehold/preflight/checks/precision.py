"""Whether the numbers are kept precisely enough."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.precision", group="rules")
def precision(facts: Facts) -> Iterator[Finding]:
    """Precision, loss scaling and optimizer states go together."""
    yield from by_rules(facts, "precision")
