"""Whether the course of the rate is a usual one."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.schedule", group="rules")
def schedule(facts: Facts) -> Iterator[Finding]:
    """The rate decays, and the parts of the schedule have their usual lengths."""
    yield from by_rules(facts, "schedule")
