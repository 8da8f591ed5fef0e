"""Free data (of events and commands) made safe to keep: what JSON and a database can hold."""

from __future__ import annotations

import math
from typing import Any

from safehold.wire.errors import WireError
from safehold.wire.limits import MAX_DEPTH

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def tidy(value: Any, field: str = "data", depth: int = 0) -> Any:
    """Return `value` with only strings, numbers, booleans, nil, lists and maps.

    Non-finite numbers become "NaN", "Infinity", "-Infinity"; integers beyond 64 bits become text;
    a NUL or a lone surrogate becomes U+FFFD; bytes are read as UTF-8.

    Raises:
        WireError: nested deeper than 32, or a value of another kind.
    """
    if depth > MAX_DEPTH:
        raise WireError(field, f"is nested deeper than {MAX_DEPTH}")
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, bytes):
        return _text(value.decode(errors="replace"))
    return _container(value, field, depth)


def number(value: object) -> float:
    """Return the float that a tidied number stands for.

    Raises:
        ValueError: it is no number.
    """
    if isinstance(value, str) and value in NON_FINITE:
        return NON_FINITE[value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{value!r} is not a number.")


def _container(value: Any, field: str, depth: int) -> Any:
    if isinstance(value, dict):
        return {_text(str(k)): tidy(v, field, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if set(map(type, value)) == {int} and -(2**63) <= min(value) <= max(value) < 2**63:
            return list(value)  # ids of a batch: many, in every step
        return [tidy(item, field, depth + 1) for item in value]
    raise WireError(field, f"holds a {type(value).__name__}, which a message cannot carry")


def _finite(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _text(value: str) -> str:
    if "\0" in value:
        value = value.replace("\0", "\ufffd")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode(errors="surrogatepass").decode(errors="replace")
    return value
