"""Is there a manifest, and can it be believed?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safehold.checkpointing.staging import is_garbage
from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, info


@check("CKPT-5.manifest", needs_manifest=False)
def manifest(facts: Facts) -> Iterator[Finding]:
    """A manifest is there, parses, and names only files inside the folder."""
    if is_garbage(Path(facts.name).name):
        yield fail(
            f"{facts.name} is what a save left that was never finished.",
            evidence={"path": facts.name},
            advice="Resume from another checkpoint; this folder may be deleted.",
        )
    if facts.manifest_error:
        yield fail(
            facts.manifest_error,
            evidence={"path": facts.name},
            advice="Resume from another checkpoint; this one was never finished or was damaged.",
        )
    elif facts.manifest is None:
        yield info(
            f"{facts.name} has no manifest: its bytes are judged, not where it came from.",
            evidence={"shape": facts.shape},
            advice="Import it into the registry to give it a manifest.",
        )
