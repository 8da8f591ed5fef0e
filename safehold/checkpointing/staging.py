"""A folder that becomes a checkpoint by one rename, or stays recognisable as garbage.

Order: files are written and synced one by one, then the folder, then the manifest, then the folder
again; the rename publishes it, and the parent is synced. A crash anywhere leaves either a folder
`.tmp-step-…` or a whole checkpoint.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from blake3 import blake3

from safehold.durability import sync_folder
from safehold.manifest import FileEntry, Manifest, write

_PREFIX = ".tmp-step-"
ABANDONED_SECONDS = 24 * 3600.0


def staging_path(final: Path, mark: str) -> Path:
    """Return the temporary name for a checkpoint folder, in the same parent."""
    return final.with_name(f".tmp-{final.name}-{mark}")


def remove_abandoned(run: Path) -> list[str]:
    """Remove what saves of earlier attempts left a day ago or more; return the names.

    Nobody else would: an attempt that was killed in a save leaves a checkpoint's worth of bytes. Younger ones may
    still be written, by a process that nobody ended.
    """
    found = [path for path in run.glob(f"a*/{_PREFIX}*") if _is_abandoned(path)]
    for path in found:
        shutil.rmtree(path, ignore_errors=True)
    return sorted(path.name for path in found)


def is_garbage(name: str) -> bool:
    """Say whether a folder's name is that of a save which was never finished."""
    return name.startswith(_PREFIX)


def make(staging: Path) -> None:
    """Create the temporary folder and its parents; they are on stable storage on return.

    Raises:
        OSError: the disk refused, or the folder exists.
    """
    for parent in reversed(_missing(staging.parent)):
        parent.mkdir(exist_ok=True)
        sync_folder(parent.parent)
    staging.mkdir()


def write_file(staging: Path, name: str, chunks: Iterable[bytes | memoryview]) -> FileEntry:
    """Write one file, digesting it on the way, and sync it.

    Raises:
        OSError: the disk refused.
    """
    digest = blake3(max_threads=blake3.AUTO)
    size = 0
    with (staging / name).open("xb", buffering=0) as file:
        for chunk in chunks:
            view = memoryview(chunk).cast("B")
            _write_all(file.fileno(), view)
            digest.update(view)
            size += len(view)
        os.fsync(file.fileno())
    return FileEntry(path=name, size=size, digest=digest.hexdigest())


def publish(staging: Path, final: Path, manifest: Manifest) -> None:
    """Write the manifest last and rename the folder to its final name.

    Raises:
        OSError: the disk refused; the folder stays under its temporary name.
    """
    sync_folder(staging)
    write(staging, manifest)
    sync_folder(staging)
    staging.rename(final)
    sync_folder(final.parent)


def remove_garbage(parent: Path) -> list[str]:
    """Remove what unfinished saves of this attempt left; return their names.

    Only the attempt itself may call this, before its first save: no one else writes there.
    """
    names = [path.name for path in parent.glob(f"{_PREFIX}*")] if parent.is_dir() else []
    for name in names:
        shutil.rmtree(parent / name, ignore_errors=True)
    return sorted(names)


def _is_abandoned(folder: Path) -> bool:
    try:
        newest = max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        return False
    return time.time() - newest > ABANDONED_SECONDS


def _missing(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _write_all(descriptor: int, view: memoryview) -> None:
    while view:
        view = view[os.write(descriptor, view) :]
