"""Whether step counts followed the number of updates."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-6.updates", group="rules")
def updates(facts: Facts) -> Iterator[Finding]:
    """Step counts were computed again after a change of accumulation."""
    yield from by_rules(facts, "updates")
