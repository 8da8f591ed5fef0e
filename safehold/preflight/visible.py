"""Make any text fit to be stored and shown: PostgreSQL takes no NUL, UTF-8 no half surrogate."""

import math
from collections.abc import Mapping
from typing import Any

_LONGEST = 200


def visible(value: object, longest: int = _LONGEST) -> str:
    """Return the text with control characters and lone surrogates as escapes, cut to a length."""
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(_escaped(character) for character in cut)


def visible_json(value: Any) -> Any:
    """Return a JSON value that every store takes: big integers and texts made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bool | None):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return visible(value)


def storable(value: Any) -> Any:
    """Return a nested JSON value with every text kept whole, but without NUL and half surrogates."""
    if isinstance(value, str):
        return "".join(_escaped(c) if c == "\0" or 0xD800 <= ord(c) <= 0xDFFF else c for c in value)
    if isinstance(value, Mapping):
        return {storable(str(name)): storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


def _escaped(character: str) -> str:
    point = ord(character)
    is_control = point < 32 or 127 <= point < 160
    return f"\\u{point:04x}" if is_control or 0xD800 <= point <= 0xDFFF else character
