"""Whether the peak learning rate suits stage and size."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.learning_rate", group="rules")
def learning_rate(facts: Facts) -> Iterator[Finding]:
    """The peak learning rate lies within the span of stage and size."""
    yield from by_rules(facts, "learning_rate")
