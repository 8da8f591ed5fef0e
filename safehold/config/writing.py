"""Write a config as the TOML that people edit: sections in the order of the schema, tables readable."""

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.items import Table

from safehold.config.canonical import canonical_document
from safehold.config.fields import section_of
from safehold.config.schema import RunConfig


def to_toml(document: RunConfig | Mapping[str, Any]) -> str:
    """Return TOML text that reads back as the same document."""
    plain = canonical_document(document) if isinstance(document, RunConfig) else document
    text = tomlkit.document()
    for name, value in _in_order(plain, list(RunConfig.model_fields)):
        if isinstance(value, Mapping):
            text[name] = _table(value, _order_of(name))
        else:
            text[name] = value
    return tomlkit.dumps(text)


def _table(values: Mapping[str, Any], order: list[str]) -> Table:
    table = tomlkit.table()
    for name, value in _in_order(values, order):
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[name] = inline
        else:
            table[name] = value
    return table


def _order_of(section: str) -> list[str]:
    field = RunConfig.model_fields.get(section)
    inner = section_of(field) if field else None
    return list(inner.model_fields) if inner else []


def _in_order(values: Mapping[str, Any], order: list[str]) -> list[tuple[str, Any]]:
    known = [(name, values[name]) for name in order if name in values]
    return known + [(name, values[name]) for name in sorted(values) if name not in order]
