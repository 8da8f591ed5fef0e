"""Load a checkpoint: compare first, check every byte, then load; refuse as a whole, on every rank."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from safehold.checkpointing import network_state, optimizer_state, random_state
from safehold.checkpointing.damage import file_differences, refuse_damage
from safehold.checkpointing.errors import RestoreError
from safehold.checkpointing.formats.base import FormatError
from safehold.checkpointing.forms import is_state
from safehold.checkpointing.names import OPTIMIZER_FILE, SCALER_FILE, SCHEDULER_FILE, rank_file
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.scheduler_state import load_scheduler
from safehold.checkpointing.start import Start
from safehold.checkpointing.state import Parts
from safehold.checkpointing.tensors import entries_of, load_file
from safehold.checkpointing.values import from_json
from safehold.manifest import (
    Expected,
    Manifest,
    ManifestError,
    PathError,
    compare,
    describe,
    open_inside,
    read,
)


def restore(ranks: Ranks, folder: Path, parts: Parts, expected: Expected, *, fork: bool) -> Start:
    """Load a checkpoint into the parts; the same call on every rank.

    Raises:
        RestoreError: it differs from the run, or is damaged; raised on every rank, before anything
            was changed.
    """
    manifest = ranks.agree_each(lambda: _read_manifest(folder), RestoreError)
    notes = ranks.agree_each(lambda: _refuse_differences(folder, manifest, expected), RestoreError)
    ranks.agree(lambda: refuse_damage(folder, manifest, manifest.files, ranks), RestoreError)
    ranks.agree(lambda: _refuse_misfit(folder, manifest, parts, ranks), RestoreError)
    loaded = ranks.agree(lambda: _load(folder, manifest, parts, ranks, fork), RestoreError)
    notes += [note for _, rank_notes in loaded for note in rank_notes]
    tokens = max(manifest.tokens, 0)
    return Start(manifest.step, tokens, folder, tuple(notes), loaded[0][0], takes="state")


def _read_manifest(folder: Path) -> Manifest:
    try:
        manifest = read(folder)
    except ManifestError as error:
        raise RestoreError(f"Cannot resume: {error}") from error
    if manifest.missing_components:
        raise RestoreError(
            f"Cannot resume from {folder}: its {', '.join(manifest.missing_components)} is missing. "
            "Choose another checkpoint."
        )
    return manifest


def _refuse_differences(folder: Path, manifest: Manifest, expected: Expected) -> list[str]:
    found = compare(manifest, expected)
    blocking = [item for item in found if item.blocks]
    if blocking:
        raise RestoreError(
            f"Cannot resume from {folder}: it differs from the run's config in {describe(blocking)}. "
            "Choose a checkpoint of this config, or put the config right."
        )
    return [f"Restored although different: {describe([item])}." for item in found]


def _refuse_misfit(folder: Path, manifest: Manifest, parts: Parts, ranks: Ranks) -> None:
    """Compare tensors, parameters and groups, by name, before anything is loaded."""
    unread = [entry.path for entry in manifest.files if not _is_ours(entry.path)]
    if unread:
        raise RestoreError(
            f"{folder} holds {', '.join(unread)}: only safetensors and JSON are loaded."
        )
    named = network_state.named_tensors(parts.model)
    found = network_state.structure_differences(
        manifest.components["model"], entries_of(named.tensors), named.aliases
    )
    for name in ("model", "optimizer"):
        found += file_differences(folder, manifest.components[name])
    for path in _state_files(manifest, parts, ranks):
        _state(folder, path)
    document = optimizer_state.check(_document(folder, OPTIMIZER_FILE))
    found += optimizer_state.differences(document, parts.optimizer, parts.model)
    for name in ("scheduler", "sampler", "scaler"):
        if (getattr(parts, name) is None) != (name not in manifest.components):
            words = "has none" if getattr(parts, name) is None else "was not saved"
            found.append(f"the {name} {words}" if "saved" in words else f"the run {words}: {name}")
    if found:
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        raise RestoreError(
            f"Cannot resume from {folder}: {'; '.join(found[:8])}{more}. "
            "Put the network and the optimizer back as they were, or choose another checkpoint."
        )


def _load(
    folder: Path, manifest: Manifest, parts: Parts, ranks: Ranks, fork: bool
) -> tuple[dict[str, list[Any]], list[str]]:
    """Load everything; the random state last, since loading may draw."""
    network_state.load_network(parts.model, folder, manifest.components["model"])
    moments = {
        name: tensor
        for path in manifest.components["optimizer"].files
        if path.endswith(".safetensors")
        for name, tensor in load_file(folder, path)
    }
    document = _document(folder, OPTIMIZER_FILE)
    overrides = optimizer_state.load(
        parts.optimizer, parts.model, document, moments, keep_settings=fork
    )
    if parts.scheduler is not None:
        state = _state(folder, SCHEDULER_FILE)
        load_scheduler(parts.scheduler, parts.optimizer, state, keep_settings=fork)
    if parts.scaler is not None:
        parts.scaler.load_state_dict(_state(folder, SCALER_FILE))
    if parts.sampler is not None:
        parts.sampler.load_state_dict(_state(folder, _sampler_file(manifest, ranks)))
    return overrides, _restore_random_state(folder, manifest, ranks)


def _state_files(manifest: Manifest, parts: Parts, ranks: Ranks) -> list[str]:
    """Return the files of state, apart from the optimizer's, that this rank will load."""
    found = {
        SCHEDULER_FILE: parts.scheduler,
        SCALER_FILE: parts.scaler,
        _sampler_file(manifest, ranks): parts.sampler,
    }
    wanted = [path for path, part in found.items() if part is not None]
    wanted.append(rank_file("rng", ranks.rank))
    return [path for path in wanted if any(path == entry.path for entry in manifest.files)]


def _sampler_file(manifest: Manifest, ranks: Ranks) -> str:
    return rank_file("sampler", ranks.rank if _is_same_world(manifest, ranks) else 0)


def _is_same_world(manifest: Manifest, ranks: Ranks) -> bool:
    return bool(manifest.world.get("size", 1) == ranks.size)


def _restore_random_state(folder: Path, manifest: Manifest, ranks: Ranks) -> list[str]:
    path = rank_file("rng", ranks.rank)
    if not _is_same_world(manifest, ranks) or path not in manifest.components["rng"].files:
        return [
            f"Rank {ranks.rank} keeps a fresh random state: the checkpoint has none of its own."
        ]
    try:
        random_state.restore(_state(folder, path))
    except ValueError as error:
        return [f"Rank {ranks.rank}: {error}"]
    return []


def _is_ours(path: str) -> bool:
    return path.endswith((".safetensors", ".json"))


def _state(folder: Path, path: str) -> Any:
    document = _document(folder, path)
    if not is_state(document):
        raise RestoreError(f"{folder / path} is not what Safehold writes.")
    try:
        return from_json(document["state"])
    except ValueError as error:
        raise RestoreError(f"{folder / path} is not what Safehold writes: {error}") from error


def _document(folder: Path, path: str) -> Any:
    try:
        with os.fdopen(open_inside(folder, path), "rb") as file:
            return json.load(file)
    except (OSError, ValueError, PathError, FormatError) as error:
        raise RestoreError(f"{folder / path} cannot be read: {error}") from error
