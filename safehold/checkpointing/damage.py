"""Whether the files of a checkpoint are the bytes that were saved: asked before anything of them is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safehold.checkpointing.errors import RestoreError
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.verification.gather import read_file
from safehold.manifest import FileEntry, Manifest


def refuse_damage(
    folder: Path, manifest: Manifest, entries: Sequence[FileEntry], ranks: Ranks
) -> None:
    """Check size, digest, form and finiteness of this rank's share of the files.

    Raises:
        RestoreError: one of them is not what was saved.
    """
    for entry in entries[ranks.rank :: ranks.size]:
        reason = _damage(folder, entry, manifest.digest_algorithm)
        if reason:
            raise RestoreError(f"{folder / entry.path} {reason}. Choose another checkpoint.")


def _damage(folder: Path, entry: FileEntry, algorithm: str) -> str:
    found = read_file(folder, entry.path, algorithm=algorithm)
    if found.size is not None and found.size != entry.size:
        return f"has {found.size:,} bytes instead of {entry.size:,}"
    if found.error:
        return found.error
    if found.digest != entry.digest:
        return "has another digest than was saved"
    if found.not_finite:
        return f"holds values that are not finite, in {found.not_finite[0].tensor}"
    return ""
