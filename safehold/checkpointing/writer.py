"""Write a checkpoint together: each rank its files, rank 0 the manifest; all succeed or none."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safehold.checkpointing import staging
from safehold.checkpointing.errors import SaveError
from safehold.checkpointing.names import MODEL_FILE, MOMENTS_FILE, component_of
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.state import Captured
from safehold.checkpointing.tensors import entries_of
from safehold.manifest import COMPONENTS, Component, FileEntry, Manifest


def write_checkpoint(
    ranks: Ranks, captured: Captured, final: Path, origin: dict[str, Any]
) -> Manifest | None:
    """Write, sync and publish one checkpoint; the same call on every rank.

    Args:
        ranks: Who writes.
        captured: This rank's part.
        final: The folder's final name; its parents are made.
        origin: Fields of the manifest that do not depend on the state.

    Returns:
        The manifest, on rank 0.

    Raises:
        SaveError: any rank failed; raised on every rank. What was written stays under its temporary
            name, and the next save of this attempt removes it.
    """
    mark = ranks.gather(secrets.token_hex(4))[0]
    folder = staging.staging_path(final, mark)
    try:
        return _write_together(ranks, captured, folder, final, origin)
    except SaveError as error:
        raise SaveError(
            f"Step {captured.step} could not be saved to {final}: {error}. "
            "Free or repair the volume; training can go on."
        ) from error


def _write_together(
    ranks: Ranks, captured: Captured, folder: Path, final: Path, origin: dict[str, Any]
) -> Manifest | None:
    """Make the folder, fill it, publish it; after each part the ranks agree that it went well."""
    first = ranks.rank == 0
    ranks.agree(lambda: _prepare(folder, final) if first else None, SaveError)
    listed = ranks.agree(lambda: _write_files(folder, captured), SaveError)
    digests = ranks.gather(captured.rng_digest)
    manifest = _manifest(captured, listed, digests, origin) if first else None
    ranks.agree(lambda: staging.publish(folder, final, manifest) if manifest else None, SaveError)
    return manifest


def _prepare(folder: Path, final: Path) -> None:
    if not final.parent.exists():  # the first save of this attempt
        staging.remove_abandoned(final.parent.parent)
    staging.remove_garbage(final.parent)
    staging.make(folder)


def _write_files(folder: Path, captured: Captured) -> list[dict[str, Any]]:
    return [asdict(staging.write_file(folder, *file)) for file in captured.files()]


def announced(captured: Captured, origin: dict[str, Any]) -> Manifest:
    """Return the manifest of a save that has only begun: it names no files yet."""
    return Manifest(
        step=captured.step,
        tokens=captured.tokens,
        kind=captured.kind,
        files=(),
        components={},
        **origin,
    )


def _manifest(
    captured: Captured,
    listed: Sequence[list[dict[str, Any]]],
    rng_digests: list[str],
    origin: dict[str, Any],
) -> Manifest:
    files = tuple(FileEntry(**entry) for entries in listed for entry in entries)
    return Manifest(
        step=captured.step,
        tokens=captured.tokens,
        kind=captured.kind,
        files=files,
        components=_components(captured, [entry.path for entry in files]),
        **{**origin, "world": {**origin["world"], "rng": rng_digests}},
    )


def _components(captured: Captured, paths: list[str]) -> dict[str, Component]:
    tensors = {MODEL_FILE: captured.model.tensors, MOMENTS_FILE: captured.moments}
    found = {}
    for name in COMPONENTS:
        mine = tuple(sorted(path for path in paths if component_of(path) == name))
        if mine:
            found[name] = Component(
                files=mine,
                tensors=tuple(e for path in mine for e in entries_of(tensors.get(path, {}))),
                aliases=captured.model.aliases if name == "model" else {},
            )
    return found
