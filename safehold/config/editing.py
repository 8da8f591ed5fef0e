"""Change values in the TOML that a person wrote: comments, order and spelling of everything else stay."""

import json
import tomllib
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from safehold.config.writing import to_toml

# A field with this value is taken out, so that its default counts.
ABSENT: Final = object()


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """Return the text with other values.

    Args:
        text: Valid TOML.
        changes: Dotted path (`optimizer.lr`, `kubernetes`) -> plain value, or `ABSENT`.

    Raises:
        ValueError: The text is not valid TOML.
    """
    plain = text.replace("\r\n", "\n")
    wanted = _applied(tomllib.loads(plain), changes)
    if not changes:
        return plain
    try:
        document = tomlkit.parse(plain)
        for path, value in changes.items():
            _put(document, path.split("."), value)
        written = tomlkit.dumps(document)
        is_same = _same(tomllib.loads(written), wanted)
    except (TOMLKitError, ValueError, TypeError, KeyError):
        is_same = False
    # A form that tomlkit cannot edit in place is written anew: the values come first.
    return written if is_same else to_toml(wanted)


def _applied(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for path, value in changes.items():
        *parents, name = path.split(".")
        table = document
        for parent in parents:
            inner = table.setdefault(parent, {})
            table[parent] = table = inner if isinstance(inner, dict) else {}
        if value is ABSENT:
            table.pop(name, None)
        else:
            table[name] = value
    return {
        name: value for name, value in document.items() if value != {} or name not in _tops(changes)
    }


def _tops(changes: Mapping[str, Any]) -> set[str]:
    return {path.partition(".")[0] for path in changes}


def _put(table: MutableMapping[str, Any], parts: list[str], value: Any) -> None:
    name, *rest = parts
    if rest:
        if not isinstance(table.get(name), MutableMapping):
            table[name] = tomlkit.table()
        _put(table[name], rest, value)
        if not table[name]:
            del table[name]
    elif value is ABSENT:
        table.pop(name, None)
    elif isinstance(value, Mapping) and isinstance(table.get(name), MutableMapping):
        _bring_into_step(table[name], value)
    else:
        table[name] = _inline(value) if isinstance(value, Mapping) else value


def _bring_into_step(table: MutableMapping[str, Any], values: Mapping[str, Any]) -> None:
    for name in [name for name in table if name not in values]:
        del table[name]
    for name, value in values.items():
        if name not in table or table[name] != value:
            table[name] = value


def _inline(values: Mapping[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _same(one: Any, other: Any) -> bool:
    """Whether two documents have the same values; NaN is taken for itself."""
    return _as_json(one) == _as_json(other)


def _as_json(document: Any) -> str:
    return json.dumps(document, sort_keys=True, default=str)
