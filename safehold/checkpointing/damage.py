"""Whether the files of a checkpoint are the bytes that were saved: asked before anything of them is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safehold.checkpointing.errors import RestoreError
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.tensors import entries_in
from safehold.checkpointing.verification.gather import read_file
from safehold.manifest import Component, FileEntry, Manifest


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


def file_differences(folder: Path, saved: Component) -> list[str]:
    """Return how the tensors in the files differ from those that the manifest states, one clause each.

    What is stated was compared with the network; what is loaded is what lies in the files.
    """
    files = [path for path in saved.files if path.endswith(".safetensors")]
    found = {entry for path in files for entry in entries_in(folder, path)}
    return [
        f"{entry.name} {list(entry.shape)} {entry.dtype} is "
        f"{'in the files and not stated' if entry in found else 'stated and not in the files'}"
        for entry in sorted(found ^ set(saved.tensors), key=lambda item: item.name)
    ]


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
