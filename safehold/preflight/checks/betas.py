"""Whether Adam's moments are averaged over the right number of updates."""

from collections.abc import Iterator

from safehold.findings import Finding
from safehold.preflight.base import Facts, by_rules, check


@check("CONF-5.betas", group="rules")
def betas(facts: Facts) -> Iterator[Finding]:
    """Both betas suit the stage, and what an earlier run showed."""
    yield from by_rules(facts, "betas")
