"""The page docs/reference/config.md, written from the schema.

python -m safehold.config.reference > docs/reference/config.md
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from pydantic import BaseModel

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
config. Defaults that a later version adds change no stored document. The service keeps the text beside it as it was
written, with comments and order: they are no part of the digest, and a config that follows begins with them. The
*model family* is the digest of what `[network]` tells beyond its defaults.
"""
FORMS = {
    "text": "text", "choice": "one of", "integer": "integer", "number": "number", "flag": "true or false",
    "numbers": "numbers", "words": "list of texts", "shares": "table of numbers", "rows": "list of tables",
    "pairs": "table of texts", "nested": "nested", "prose": "text of several lines",
}  # fmt: skip


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *sections(RunConfig, all_fields()), rules(RULES)])


def sections(model: type[BaseModel], fields: Iterable[FieldSpec]) -> Iterator[str]:
    """Yield the sections of a typed document, each with a table of its fields."""
    for name, specs in groupby(fields, key=lambda spec: spec.section):
        about = model.model_fields[name].description or "" if name else "The document itself."
        yield _section(f"`[{name}]`" if name else "Top level", about, list(specs))


def rules(found: Iterable[Callable[..., Any]]) -> str:
    """Return the rules over several fields, each by the first line of its docstring."""
    lines = [f"- {(rule.__doc__ or '').strip().splitlines()[0]}" for rule in found]
    return "\n".join(["## Rules over several fields", "", *lines, ""])


def _section(title: str, about: str, fields: list[FieldSpec]) -> str:
    rows = [_row(spec) for spec in fields]
    head = ["| field | type | unit | default | meaning |", "|---|---|---|---|---|"]
    return "\n".join([f"## {title}", "", about, "", *head, *rows, ""])


def _row(spec: FieldSpec) -> str:
    name = spec.path.rpartition(".")[2]
    meaning = f"{spec.title}. {spec.description}"
    return f"| `{name}` | {_type(spec)} | {spec.unit} | {_default(spec)} | {meaning} |"


def _type(spec: FieldSpec) -> str:
    if spec.form == "choice":
        return ", ".join(f"`{choice}`" if choice else "empty" for choice in spec.choices)
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


if __name__ == "__main__":
    sys.stdout.write(page())
