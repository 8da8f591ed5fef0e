"""What differs between two configs, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.canonical import canonical_document
from safehold.config.fields import field_at
from safehold.config.schema import RunConfig


@dataclass(frozen=True)
class Change:
    """One field that differs; None stands for a field that one side lacks."""

    path: str
    old: Any
    new: Any
    unit: str


def diff(old: RunConfig | Mapping[str, Any], new: RunConfig | Mapping[str, Any]) -> list[Change]:
    """Return the changes from `old` to `new`, by path."""
    before, after = _flat(old), _flat(new)
    paths = sorted(before.keys() | after.keys())
    return [
        Change(path, before.get(path), after.get(path), _unit(path))
        for path in paths
        if before.get(path) != after.get(path)
    ]


def flatten(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values by dotted path; lists stay whole."""
    values: dict[str, Any] = {}
    for name, value in document.items():
        path = f"{prefix}.{name}" if prefix else name
        if isinstance(value, Mapping):
            values |= flatten(value, path)
        else:
            values[path] = value
    return values


def _flat(document: RunConfig | Mapping[str, Any]) -> dict[str, Any]:
    return flatten(canonical_document(document) if isinstance(document, RunConfig) else document)


def _unit(path: str) -> str:
    spec = field_at(path) or field_at(path.rpartition(".")[0])
    return spec.unit if spec else ""
