"""Two documents side by side, as the rules that count variables read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.canonical import canonical_document
from safehold.config.diff import flatten
from safehold.config.fields import field_at
from safehold.config.schema import RunConfig

Values = Callable[[str], Any]


@dataclass(frozen=True)
class Sides:
    """Old and new values by dotted path, defaults where a side has none, and which of them differ."""

    old: Values
    new: Values
    changed: frozenset[str]

    @classmethod
    def of(
        cls,
        old: RunConfig | Mapping[str, Any],
        new: RunConfig | Mapping[str, Any],
        changed: set[str],
    ) -> "Sides":
        """Return the two documents."""
        return cls(_reader(old), _reader(new), frozenset(changed))

    def both(self, path: str) -> tuple[Any, Any]:
        """Return the old and the new value."""
        return self.old(path), self.new(path)

    def growth(self, path: str) -> float | None:
        """Return how many times as large the new value is; None where it cannot be said."""
        old, new = self.both(path)
        if not isinstance(old, int | float) or not isinstance(new, int | float) or not old:
            return None
        return new / old


def _reader(document: RunConfig | Mapping[str, Any]) -> Values:
    plain = canonical_document(document) if isinstance(document, RunConfig) else document
    values = flatten(plain)

    def read(path: str) -> Any:
        if path in values:
            return values[path]
        spec = field_at(path)
        return None if spec is None or spec.required else spec.default

    return read
