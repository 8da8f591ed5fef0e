"""Begin a new run with the weights of a checkpoint: compare, check every byte, then load the network alone."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from safehold.checkpointing import network_state
from safehold.checkpointing.damage import file_differences, refuse_damage
from safehold.checkpointing.errors import RestoreError
from safehold.checkpointing.ranks import Ranks
from safehold.checkpointing.start import Start
from safehold.checkpointing.tensors import entries_of
from safehold.manifest import (
    Component,
    Expected,
    Manifest,
    ManifestError,
    compare_for_weights,
    describe,
    read,
)


def load_weights(ranks: Ranks, folder: Path, network: nn.Module, expected: Expected) -> Start:
    """Load the network of a checkpoint; the same call on every rank.

    Optimizer, schedule, sampler, random state, step and tokens stay as the script made them.

    Args:
        ranks: Those that train; they share the work of checking.
        folder: Of the checkpoint.
        network: May be wrapped; changed in place.
        expected: Facts of the new run; architecture and tokenizer have to agree, all else may differ.

    Raises:
        RestoreError: they differ, or the weights are damaged; raised on every rank, before anything was changed.
    """
    manifest = ranks.agree_each(lambda: _read_manifest(folder), RestoreError)
    saved = manifest.components["model"]
    ranks.agree(lambda: _refuse_differences(folder, manifest, expected), RestoreError)
    entries = [entry for entry in manifest.files if entry.path in saved.files]
    ranks.agree(lambda: refuse_damage(folder, manifest, entries, ranks), RestoreError)
    ranks.agree(lambda: _refuse_misfit(folder, saved, network), RestoreError)
    ranks.agree(lambda: network_state.load_network(network, folder, saved), RestoreError)
    return Start(path=folder, takes="weights")


def _read_manifest(folder: Path) -> Manifest:
    try:
        manifest = read(folder)
    except ManifestError as error:
        raise RestoreError(f"Cannot begin from these weights: {error}") from error
    if "model" not in manifest.components:
        raise RestoreError(
            f"Cannot begin from the weights of {folder}: it holds none. Choose another base checkpoint."
        )
    return manifest


def _refuse_differences(folder: Path, manifest: Manifest, expected: Expected) -> None:
    if found := compare_for_weights(manifest, expected):
        raise RestoreError(
            f"Cannot begin from the weights of {folder}: it differs from the run's config in {describe(found)}. "
            "Keep architecture and tokenizer of the base, or choose another base checkpoint."
        )


def _refuse_misfit(folder: Path, saved: Component, network: nn.Module) -> None:
    if unread := [path for path in saved.files if not path.endswith(".safetensors")]:
        raise RestoreError(
            f"{folder} holds its weights in {', '.join(unread)}: only safetensors are loaded."
        )
    named = network_state.named_tensors(network)
    found = network_state.structure_differences(saved, entries_of(named.tensors), named.aliases)
    found += file_differences(folder, saved)
    if found:
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        raise RestoreError(
            f"Cannot begin from the weights of {folder}: {'; '.join(found[:8])}{more}. "
            "Make the network as it was, or choose another base checkpoint."
        )
