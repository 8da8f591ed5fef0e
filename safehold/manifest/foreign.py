"""Manifests of another layout: `format` "example-1", a map of files with bytes and SHA-256.

Each component is one file named after it: `model.safetensors`, `optimizer.pt`, `scheduler.json`.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from safehold.manifest import fields
from safehold.manifest.document import COMPONENTS, Component, FileEntry, Manifest, ManifestError


def is_foreign(data: dict[str, Any]) -> bool:
    """Say whether the document is of this other layout."""
    return "format_version" not in data and data.get("format") == "example-1"


def convert(data: dict[str, Any]) -> Manifest:
    """Return the document in our form.

    Raises:
        ManifestError: a field is wrong or missing.
    """
    files = tuple(_entry(path, item) for path, item in fields.mapping(data, "files").items())
    return Manifest(
        step=fields.whole(data, "step", least=0),
        files=files,
        components=_components(files),
        digest_algorithm="sha256",
        config_hash=fields.text(data, "config_hash", default=""),
        tokenizer_digest=fields.text(data, "tokenizer_hash", default=""),
        world={"size": fields.whole(data, "world_size", least=1, default=1)},
    )


def _entry(path: str, item: Any) -> FileEntry:
    if not isinstance(item, dict):
        raise ManifestError(f"`files.{path}` is {item!r}; it must be a map with bytes and sha256.")
    data = {"path": path, "size": item.get("bytes"), "digest": item.get("sha256")}
    return fields.file_entry(data, f"files.{path}", "sha256")


def _components(files: tuple[FileEntry, ...]) -> dict[str, Component]:
    names = {PurePosixPath(entry.path).name.split(".")[0]: entry.path for entry in files}
    return {name: Component(files=(names[name],)) for name in COMPONENTS if name in names}
