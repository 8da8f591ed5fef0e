"""Is there a manifest, and can it be believed?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safehold.checkpointing.formats import dcp
from safehold.checkpointing.staging import is_garbage
from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.checkpointing.verification.listing import MOST_SHOWN, Listing
from safehold.findings import Finding, fail, info
from safehold.manifest import FILE_NAME


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
            advice=_advice(facts.below),
        )
        yield from _found(facts)
    elif facts.manifest is None:
        yield info(
            f"{facts.name} has no manifest: its bytes are judged, not where it came from.",
            evidence={"shape": facts.shape},
            advice="Import it into the registry to give it a manifest.",
        )


def _found(facts: Facts) -> Iterator[Finding]:
    """Say what was looked for in a folder, and what is there instead."""
    if facts.shape != "folder":
        return
    below = facts.below
    num = f"{'at least ' if below.is_cut else ''}{len(below.files):,}"
    kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in below.suffixes.items())
    yield info(
        f"Looked for {FILE_NAME} or {dcp.METADATA} in {facts.name}; found {num} files{f': {kinds}' if kinds else ''}.",
        evidence={"num_files": len(below.files), "is_cut": below.is_cut, "checkpoints": list(below.checkpoints[:MOST_SHOWN])},
    )  # fmt: skip


def _advice(below: Listing) -> str:
    if below.checkpoints:
        names = ", ".join(below.checkpoints[:5])
        return f"There are checkpoints below it: {names}. Name one of them."
    return "Resume from another checkpoint; this one was never finished or was damaged."
