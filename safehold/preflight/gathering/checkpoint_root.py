"""Find out what the folder for checkpoints can really take, by writing to it."""

import os
import shutil
import tempfile
from pathlib import Path

from safehold.durability import sync_folder
from safehold.preflight.facts import CheckpointFacts

PROBE_BYTES = 4096


def probe_root(root: str, *, quota_bytes: int | None = None) -> CheckpointFacts:
    """Write, sync and rename a small file where the checkpoints would go; nothing is left behind.

    Args:
        root: Need not exist; then the nearest folder above it is probed.
        quota_bytes: What a quota leaves, where the caller knows of one.
    """
    probed = _nearest(Path(root))
    try:
        if not probed.is_dir():
            raise NotADirectoryError(20, "it is not a folder", str(probed))
        _write_once(probed)
        free_bytes = shutil.disk_usage(probed).free
    except OSError as error:
        return CheckpointFacts(
            root, str(probed), error=f"{error.strerror or error}", quota_bytes=quota_bytes
        )
    return CheckpointFacts(root, str(probed), free_bytes=free_bytes, quota_bytes=quota_bytes)


def _nearest(path: Path) -> Path:
    for one in (path.absolute(), *path.absolute().parents):
        if os.path.lexists(one):
            return one
    return Path("/")


def _write_once(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".safehold-probe-", dir=folder) as name:
        written, renamed = Path(name) / "written", Path(name) / "renamed"
        with written.open("wb") as file:
            file.write(b"\0" * PROBE_BYTES)
            file.flush()
            os.fsync(file.fileno())
        written.rename(renamed)
        sync_folder(Path(name))
