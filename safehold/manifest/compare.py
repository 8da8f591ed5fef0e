"""Compare a manifest with the run that wants to load it, before anything is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from safehold.manifest.document import Manifest
from safehold.manifest.expected import Expected

# What a run that takes weights over may have otherwise: positions can be extended. All else decides the tensors.
_FREE_IN_NETWORK = frozenset({"sequence_length"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that differs; `blocks` is false where the state can be loaded all the same."""

    field: str
    saved: Any
    current: Any
    blocks: bool = True


def compare(manifest: Manifest, expected: Expected) -> list[Difference]:
    """Return the fields that differ, in the manifest's order; an empty list means that it fits."""
    found = []
    if expected.config_hash:
        found += _scalar("config_hash", manifest.config_hash, expected.config_hash)
    found += _maps("model", manifest.model, expected.model)
    for name in ("tokenizer_digest", "data_version", "mix_version"):
        wanted = getattr(expected, name)
        if wanted:
            found += _scalar(name, getattr(manifest, name), wanted)
    return found + list(_world(manifest, expected))


def compare_for_weights(manifest: Manifest, expected: Expected) -> list[Difference]:
    """Return what keeps a new run from beginning with these weights: another architecture, another tokenizer.

    Config, data and mix may be others; the world size says nothing of weights.
    """
    found = compare_architecture(manifest.model, expected.model)
    if expected.tokenizer_digest:
        found += _scalar("tokenizer_digest", manifest.tokenizer_digest, expected.tokenizer_digest)
    return found


def compare_architecture(saved: Mapping[str, Any], current: Mapping[str, Any]) -> list[Difference]:
    """Return the fields of `[network]` that differ; one that a side does not state is left to the tensors."""
    return [
        Difference(f"model.{key}", saved[key], current[key])
        for key in sorted((saved.keys() & current.keys()) - _FREE_IN_NETWORK)
        if saved[key] != current[key]
    ]


def describe(differences: Iterable[Difference]) -> str:
    """Return the differences as one clause: `data_version (saved "a", now "b"), ...`."""
    return ", ".join(
        f"{item.field} (saved {_show(item.saved)}, now {_show(item.current)})"
        for item in differences
    )


def _scalar(name: str, saved: Any, current: Any) -> list[Difference]:
    return [] if saved == current else [Difference(name, saved, current)]


def _maps(name: str, saved: Mapping[str, Any], current: Mapping[str, Any]) -> list[Difference]:
    if not current:
        return []
    return [
        Difference(f"{name}.{key}", saved.get(key), current.get(key))
        for key in sorted({*saved, *current})
        if saved.get(key) != current.get(key)
    ]


def _world(manifest: Manifest, expected: Expected) -> Iterator[Difference]:
    saved, current = manifest.world.get("size"), expected.world.get("size")
    if current is not None and saved != current:
        yield Difference("world.size", saved, current, blocks=False)


def _show(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
