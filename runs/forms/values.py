"""A value as it stands in its field, and typed text as a value; what cannot be read stays text."""

import json
import re
from collections.abc import Mapping
from typing import Any

from safehold.config import FieldSpec

# An acceptance metric, in the order in which a line says it.
_ROW = ("metric", "split", "comparator", "threshold")
# 2,000 or 2 000 000.5: one separator, groups of three digits.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,_ ])\d{3}(\1\d{3})*(\.\d*)?(e[+-]?\d+)?", re.I)


def to_text(spec: FieldSpec, value: Any) -> str:
    """Return a value as it stands in its field."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if spec.form == "nested":
        return json.dumps(value, ensure_ascii=False) if value else ""
    if isinstance(value, Mapping):
        return "\n".join(f"{key} = {number}" for key, number in value.items())
    if isinstance(value, list | tuple):
        separator = "\n" if spec.form in {"words", "rows"} else ", "
        return separator.join(
            _row(item) if isinstance(item, Mapping) else str(item) for item in value
        )
    return str(value)


def to_value(spec: FieldSpec, text: str) -> Any:
    """Return typed text as a value; what cannot be read stays text, and validation names the field."""
    readers = {
        "integer": _number, "number": to_number, "numbers": _numbers, "words": _words, "shares": _shares, "rows": _rows,
        "pairs": _pairs, "nested": _nested, "prose": _prose,
    }  # fmt: skip
    if spec.path == "schema_version":
        return _number(text)
    return readers[spec.form](text) if spec.form in readers else text


def to_number(text: str) -> Any:
    """Return typed text as a number, grouped by threes or not; what is none stays text."""
    value = _number(text)
    try:
        return float(value) if isinstance(value, int) else value
    except OverflowError:  # more digits than any quantity has; validation names the field
        return text


def _number(text: str) -> Any:
    # Only whole groups of three are taken together: "3,5e-4" is no 35e-4, it is refused as it stands.
    plain = re.sub("[,_ ]", "", text) if _GROUPED.fullmatch(text) else text
    for reader in (int, float):
        try:
            value = reader(plain)
        except ValueError:
            continue
        return (
            int(value)
            if isinstance(value, float) and value.is_integer() and "e" in plain.lower()
            else value
        )
    return text


def _numbers(text: str) -> list[Any]:
    return [to_number(part.strip()) for part in text.split(",") if part.strip()]


def _words(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _shares(text: str) -> dict[str, Any]:
    pairs = [line.rpartition("=") for line in text.splitlines() if line.strip()]
    return {name.strip() or value.strip(): _number(value.strip()) for name, _, value in pairs}


def _pairs(text: str) -> dict[str, str]:
    pairs = [line.partition("=") for line in text.splitlines() if line.strip()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _prose(text: str) -> str:
    """Take the line breaks of a browser for ours."""
    return text.replace("\r\n", "\n")


def _nested(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _rows(text: str) -> list[dict[str, Any]]:
    """Read one acceptance metric a line: `eval/loss validation <= 2.5`."""
    rows = []
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 3:
            parts.insert(1, "validation")
        if parts:
            rows.append(dict(zip(_ROW, [*parts[:3], *map(to_number, parts[3:4])], strict=False)))
    return rows


def _row(item: Mapping[str, Any]) -> str:
    """Write a row as `_rows` reads it: the database keeps the keys of a document in an order of its own."""
    return " ".join(str(item[name]) for name in _ROW if name in item)
