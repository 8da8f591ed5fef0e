"""The page docs/reference/config.md, written from the schema.

python -m safehold.config.reference > docs/reference/config.md
"""

import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from safehold.config.fields import FieldSpec, all_fields
from safehold.config.rules import RULES
from safehold.config.schema import RunConfig

HEAD = """\
# The run config

Written from the schema by `python -m safehold.config.reference`; a test compares.

A run config is a typed document in TOML; YAML 1.2 and JSON are read too. Types are strict (`"3e-4"` is a text, not a
number), a name that is not listed here is refused, and so is a key that stands twice. Nothing is ever adjusted.

When it is stored, defaults are filled in once and the document gets its name: `blake3:` and the digest of its
canonical JSON (sorted keys, shortest numbers, whole floats as integers), so that `3e-4`, `0.0003` and `3.0e-4` are one
config. Defaults that a later version adds change no stored document. The *model family* is the digest of `[network]`
alone.
"""
FORMS = {
    "text": "text", "choice": "one of", "integer": "integer", "number": "number", "flag": "true or false",
    "numbers": "numbers", "words": "list of texts", "shares": "table of numbers", "rows": "list of tables",
    "pairs": "table of texts", "nested": "nested",
}  # fmt: skip


def page() -> str:
    """Return the text of the page."""
    sections = [
        _section(name, list(fields))
        for name, fields in groupby(all_fields(), key=lambda spec: spec.section)
    ]
    return "\n".join([HEAD, *sections, _rules()])


def _section(name: str, fields: list[FieldSpec]) -> str:
    title, about = "Top level", "The document itself."
    if name:
        title, about = f"`[{name}]`", RunConfig.model_fields[name].description or ""
    rows = [_row(spec) for spec in fields]
    head = ["| field | type | unit | default | meaning |", "|---|---|---|---|---|"]
    return "\n".join([f"## {title}", "", about, "", *head, *rows, ""])


def _row(spec: FieldSpec) -> str:
    name = spec.path.rpartition(".")[2]
    meaning = f"{spec.title}. {spec.description}"
    return f"| `{name}` | {_type(spec)} | {spec.unit} | {_default(spec)} | {meaning} |"


def _type(spec: FieldSpec) -> str:
    if spec.form == "choice":
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    return f"{FORMS[spec.form]}{', ' + spec.bounds if spec.bounds else ''}"


def _default(spec: FieldSpec) -> str:
    return "required" if spec.required else f"`{_toml(spec.default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return "{}" if value == {} else str(value)


def _rules() -> str:
    return "\n".join(["## Rules over several fields", "", *_rule_lines(), ""])


def _rule_lines() -> Iterator[str]:
    for rule in RULES:
        yield f"- {(rule.__doc__ or '').strip().splitlines()[0]}"


if __name__ == "__main__":
    sys.stdout.write(page())
