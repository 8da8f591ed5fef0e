"""Does the checkpoint fit the run that wants to load it?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, info
from safehold.manifest import compare, describe


@check("CKPT-5.fits")
def fits(facts: Facts) -> Iterator[Finding]:
    """Model, tokenizer, data and mix are those of the run that asks."""
    if facts.manifest is None:
        return
    if facts.expected is None:
        yield info("Not judged: no run was named that would load it.")
        return
    for item in compare(facts.manifest, facts.expected):
        say = fail if item.blocks else info
        yield say(
            f"It differs from the run's config: {describe([item])}.",
            evidence={"field": item.field, "saved": item.saved, "current": item.current},
            advice="Choose a checkpoint of this config, or change the config back." * item.blocks,
        )
