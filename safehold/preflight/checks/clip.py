"""Whether the gradient is clipped where spikes begin."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.clip", group="rules")
def clip(facts: Facts) -> Iterator[Finding]:
    """The gradient clip holds spikes back and does not starve the update."""
    yield from by_rules(facts, "clip")
