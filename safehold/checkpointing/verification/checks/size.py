"""Has each file the size that was written?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail


@check("CKPT-5.size")
def size(facts: Facts) -> Iterator[Finding]:
    """Every file has the size that the manifest gives."""
    for entry in facts.manifest.files if facts.manifest else ():
        found = facts.files[entry.path].size
        if found is not None and found != entry.size:
            yield fail(
                f"{entry.path} has {found:,} bytes, the manifest says {entry.size:,}.",
                evidence={"path": entry.path, "found_bytes": found, "expected_bytes": entry.size},
                advice="It was cut or changed after it was saved. Resume from another checkpoint.",
            )
