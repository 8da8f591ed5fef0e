"""Does anything lead out of the folder?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail


@check("CKPT-5.links", needs_manifest=False)
def links(facts: Facts) -> Iterator[Finding]:
    """No entry is a link, a device or a path that leaves the folder."""
    if facts.links:
        yield fail(
            f"{facts.name} holds entries that lead elsewhere: {', '.join(facts.links[:5])}.",
            evidence={"entries": list(facts.links)},
            advice="A checkpoint holds plain files only. Copy the files themselves into it.",
        )
