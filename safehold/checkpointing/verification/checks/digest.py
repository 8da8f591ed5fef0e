"""Has each file the content that was written?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail


@check("CKPT-5.digest")
def digest(facts: Facts) -> Iterator[Finding]:
    """Every file has the digest that the manifest gives."""
    for entry in facts.manifest.files if facts.manifest else ():
        found = facts.files[entry.path]
        if found.digest is not None and found.digest != entry.digest and found.size == entry.size:
            yield fail(
                f"{entry.path} has another content than was saved: its digest is "
                f"{found.digest[:12]}…, the manifest says {entry.digest[:12]}….",
                evidence={"path": entry.path, "found": found.digest, "expected": entry.digest},
                advice="Bytes changed on the way or on the disk. Resume from another checkpoint.",
            )
