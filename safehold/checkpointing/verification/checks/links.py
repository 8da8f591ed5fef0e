"""Does anything lead out of the folder?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.checkpointing.verification.listing import MOST_OF_CHECKPOINT, MOST_SHOWN
from safehold.findings import Finding, fail, unknown


@check("CKPT-5.links", needs_manifest=False)
def links(facts: Facts) -> Iterator[Finding]:
    """No entry is a link, a device or a path that leaves the folder."""
    if facts.links:
        yield fail(
            f"{facts.name} holds entries that lead elsewhere: {', '.join(facts.links[:5])}.",
            evidence={"entries": list(facts.links[:MOST_SHOWN]), "num": len(facts.links)},
            advice="A checkpoint holds plain files only. Copy the files themselves into it.",
        )
    if closed := facts.below.closed:
        yield unknown(
            f"{len(closed)} folders cannot be opened: {', '.join(closed[:5])}.",
            evidence={"folders": list(closed[:MOST_SHOWN]), "num": len(closed)},
            advice="Look as a user who may read them.",
        )
    if facts.manifest is not None and facts.below.is_cut:
        yield unknown(
            f"{facts.name} holds more than {MOST_OF_CHECKPOINT:,} entries: the rest was not looked at.",
            advice="A checkpoint has a folder of its own.",
        )
