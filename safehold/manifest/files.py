"""Read and write `manifest.json`."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from safehold.manifest import fields, foreign
from safehold.manifest.document import (
    COMPONENTS,
    FILE_NAME,
    FORMAT_VERSION,
    Component,
    FileEntry,
    Manifest,
    ManifestError,
)
from safehold.manifest.paths import PathError, open_inside

# A manifest of a network with 100,000 tensors takes about 30 MB; more is not a manifest.
_LARGEST_BYTES = 64 * 2**20


def read(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a checkpoint folder.

    Raises:
        ManifestError: it is missing, too large, or a field is wrong; the field is named.
    """
    where = Path(folder) / FILE_NAME
    try:
        with os.fdopen(open_inside(folder, FILE_NAME), "rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise ManifestError(
            f"{where} does not exist: a checkpoint without a manifest was never finished."
        ) from None
    except (OSError, PathError) as error:
        raise ManifestError(f"{where} cannot be read: {error}") from error
    try:
        return parse(content)
    except ManifestError as error:
        raise ManifestError(f"{where}: {error}") from error


def parse(content: bytes | str | dict[str, Any]) -> Manifest:
    """Read a manifest from its JSON text or from the parsed map.

    Raises:
        ManifestError: it is not a manifest that this version reads.
    """
    data = content if isinstance(content, dict) else _load(content)
    if foreign.is_foreign(data):
        return foreign.convert(data)
    version = fields.whole(data, "format_version", least=1)
    if version != FORMAT_VERSION:
        raise ManifestError(
            f"`format_version` is {version}; this Safehold reads {FORMAT_VERSION}. Upgrade it."
        )
    return _manifest(data)


def write(folder: str | os.PathLike[str], manifest: Manifest) -> Path:
    """Write the manifest and have it on stable storage; the caller syncs the folder.

    Raises:
        OSError: the disk refused.
    """
    where = Path(folder) / FILE_NAME
    with where.open("x", encoding="utf-8") as file:
        json.dump(manifest.to_dict(), file, indent=1, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    return where


def _load(content: bytes | str) -> dict[str, Any]:
    if len(content) > _LARGEST_BYTES:
        raise ManifestError(f"It is larger than {_LARGEST_BYTES >> 20} MiB.")
    try:
        data = json.loads(content, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"It is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise ManifestError(f"It holds {type(data).__name__}; a manifest is a map.")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ManifestError(f"`{twice}` stands twice.")
    return found


def _refuse(word: str) -> None:
    raise ManifestError(f"It holds {word}, which is no number that JSON has.")


def _manifest(data: dict[str, Any]) -> Manifest:
    algorithm = fields.text(data, "digest_algorithm")
    if algorithm not in fields.DIGEST_LENGTHS:
        known = " or ".join(fields.DIGEST_LENGTHS)
        raise ManifestError(f"`digest_algorithm` is {algorithm!r}; it must be {known}.")
    files = _files(data, algorithm)
    kind = fields.text(data, "kind")
    if kind not in ("anchor", "snapshot"):
        raise ManifestError(f"`kind` is {kind!r}; it must be anchor or snapshot.")
    parent = data.get("parent")
    return Manifest(
        step=fields.whole(data, "step", least=0),
        tokens=fields.whole(data, "tokens", least=-1),
        files=files,
        components=_components(data, {entry.path for entry in files}),
        digest_algorithm=algorithm,
        kind=kind,
        created=fields.text(data, "created"),
        config_hash=fields.text(data, "config_hash"),
        model=fields.mapping(data, "model"),
        tokenizer_digest=fields.text(data, "tokenizer_digest"),
        data_version=fields.text(data, "data_version"),
        mix_version=fields.text(data, "mix_version", default=""),
        code=fields.mapping(data, "code"),
        world=_world(fields.mapping(data, "world")),
        parent=None if parent is None else fields.text(data, "parent"),
        origin=fields.mapping(data, "origin"),
        absent=tuple(str(name) for name in fields.listed(data, "absent")),
    )


def _world(data: dict[str, Any]) -> dict[str, Any]:
    if "size" in data:
        fields.whole(data, "size", least=1)
    fields.listed(data, "rng")
    return data


def _files(data: dict[str, Any], algorithm: str) -> tuple[FileEntry, ...]:
    entries = tuple(
        fields.file_entry(item, f"files[{i}]", algorithm)
        for i, item in enumerate(fields.listed(data, "files"))
    )
    seen = {FILE_NAME}
    for entry in entries:
        if entry.path in seen:
            raise ManifestError(
                f"`files` may name {entry.path!r} once, and not the manifest itself."
            )
        seen.add(entry.path)
    return entries


def _components(data: dict[str, Any], paths: set[str]) -> dict[str, Component]:
    found = {}
    for name, item in fields.mapping(data, "components").items():
        if name not in COMPONENTS:
            raise ManifestError(f"`components.{name}` is unknown; known: {', '.join(COMPONENTS)}.")
        found[name] = fields.component(item, f"components.{name}")
        unlisted = [path for path in found[name].files if path not in paths]
        if unlisted:
            raise ManifestError(f"`components.{name}` uses {unlisted[0]!r}, not in `files`.")
    return found
