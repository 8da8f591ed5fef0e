"""Are the files there that the manifest (or the metadata of a DCP folder) names?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.checkpointing.verification.listing import MOST_SHOWN
from safehold.findings import Finding, fail, info


@check("CKPT-5.files", needs_manifest=False)
def files(facts: Facts) -> Iterator[Finding]:
    """Every file that is named is there."""
    missing = [path for path, item in facts.files.items() if item.error == "is missing"]
    for path in missing:
        yield fail(
            f"{path} is named by the {_source(facts)} and is not there.",
            evidence={"path": path},
            advice="Resume from another checkpoint, or restore the file from a mirror.",
        )
    if facts.extra:
        yield info(
            f"{len(facts.extra)} files are named by no manifest: {', '.join(facts.extra[:5])}.",
            evidence={"paths": list(facts.extra[:MOST_SHOWN]), "num": len(facts.extra)},
        )


def _source(facts: Facts) -> str:
    return "metadata" if facts.shape == "dcp" else "manifest"
