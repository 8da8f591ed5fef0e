"""What differs between two configs, field by field.

A field that one side lacks stands for its default: documents are stored whole, and a version that came later may have
added it. So two documents that mean the same have no changes, though their digests may differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.canonical import canonical_document
from safehold.config.fields import field_at
from safehold.config.schema import RunConfig


@dataclass(frozen=True)
class Change:
    """One field that differs; None stands for a field that one side lacks and that has no default."""

    path: str
    old: Any
    new: Any
    unit: str

    @property
    def growth(self) -> float | None:
        """How many times as large the new value is; None of what is no quantity, or was 0."""
        values = (self.old, self.new)
        if any(isinstance(one, bool) or not isinstance(one, int | float) for one in values):
            return None
        return float(self.new / self.old) if self.old else None


def diff(old: RunConfig | Mapping[str, Any], new: RunConfig | Mapping[str, Any]) -> list[Change]:
    """Return the changes from `old` to `new`, by path."""
    before, after = _flat(old), _flat(new)
    found = []
    for path in sorted(before.keys() | after.keys()):
        default = _default(path)
        was, now = before.get(path, default), after.get(path, default)
        if was != now:
            found.append(Change(path, was, now, _unit(path)))
    return found


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
    plain = canonical_document(document) if isinstance(document, RunConfig) else document
    return {path: _listed(value) for path, value in flatten(plain).items()}


def _default(path: str) -> Any:
    spec = field_at(path)
    return None if spec is None or spec.required else _listed(spec.default)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _unit(path: str) -> str:
    spec = field_at(path) or field_at(path.rpartition(".")[0])
    return spec.unit if spec else ""
