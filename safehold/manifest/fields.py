"""Typed readers of JSON fields that name the field when the value is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from safehold.manifest.document import Component, FileEntry, ManifestError, TensorEntry
from safehold.manifest.paths import PathError, check_relative

T = TypeVar("T")

LARGEST = 2**63 - 1  # what a database, a message and a file system can hold
DIGEST_LENGTHS = {"blake3": 64, "sha256": 64}


def text(data: Mapping[str, Any], name: str, *, default: str | None = None) -> str:
    """Return a string field."""
    return _typed(data, name, str, "a string", default)


def whole(data: Mapping[str, Any], name: str, *, least: int, default: int | None = None) -> int:
    """Return a whole number that is at least `least`."""
    value = _typed(data, name, int, "a whole number", default)
    if isinstance(value, bool) or not least <= value <= LARGEST:
        raise ManifestError(
            f"`{name}` is {value!r:.40}; it must be a whole number from {least} to 2^63-1."
        )
    return value


def mapping(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a map field, empty when it is absent."""
    return _typed(data, name, dict, "a map", {})


def listed(data: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list field, empty when it is absent."""
    return _typed(data, name, list, "a list", [])


def file_entry(data: object, name: str, algorithm: str) -> FileEntry:
    """Read one entry of `files`."""
    if not isinstance(data, dict):
        raise ManifestError(f"`{name}` is {data!r}; it must be a map with path, size and digest.")
    try:
        path = check_relative(text(data, "path"))
    except PathError as error:
        raise ManifestError(f"`{name}.path`: {error}") from error
    digest = text(data, "digest")
    if len(digest) != DIGEST_LENGTHS[algorithm] or not set(digest) <= set("0123456789abcdef"):
        raise ManifestError(f"`{name}.digest` of {path!r} is no {algorithm} digest in hex.")
    return FileEntry(path=path, size=whole(data, "size", least=0), digest=digest)


def component(data: object, name: str) -> Component:
    """Read one entry of `components`."""
    if not isinstance(data, dict):
        raise ManifestError(f"`{name}` is {data!r}; it must be a map with files and tensors.")
    return Component(
        files=tuple(str(path) for path in listed(data, "files")),
        tensors=tuple(
            _tensor(item, f"{name}.tensors[{i}]") for i, item in enumerate(listed(data, "tensors"))
        ),
        aliases={str(alias): str(to) for alias, to in mapping(data, "aliases").items()},
    )


def _tensor(data: object, name: str) -> TensorEntry:
    if not isinstance(data, dict):
        raise ManifestError(f"`{name}` is {data!r}; it must be a map with name, shape and dtype.")
    shape = listed(data, "shape")
    if not all(type(size) is int and 0 <= size <= LARGEST for size in shape):
        raise ManifestError(f"`{name}.shape` is {shape!r}; sizes are whole numbers from 0 on.")
    return TensorEntry(name=text(data, "name"), shape=tuple(shape), dtype=text(data, "dtype"))


def _typed(data: Mapping[str, Any], name: str, kind: type[T], words: str, default: T | None) -> T:
    value = data.get(name, default)
    if value is None:
        raise ManifestError(f"`{name}` is missing; it must be {words}.")
    if not isinstance(value, kind):
        raise ManifestError(f"`{name}` is {value!r}; it must be {words}.")
    return value
