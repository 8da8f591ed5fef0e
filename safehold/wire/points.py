"""The JSON form, for other senders: a list of points, each judged by itself.

The rules are stated in docs/reference/wire.md; this module is the one place that applies them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from safehold.wire.batch import Batch, Column, Columns, Refusal
from safehold.wire.errors import TooLarge, WireError
from safehold.wire.head import read_head
from safehold.wire.limits import MAX_COLUMNS, MAX_RECORDS, MAX_STEP, NO_STEP, NO_TIME, NO_TOKENS
from safehold.wire.names import name_problem
from safehold.wire.tidy import NON_FINITE

# Beyond this many digits a number is kept as text: Python takes quadratic time to read it.
_MAX_DIGITS = 400


def read_json(body: bytes) -> dict[str, Any]:
    """Return the map of a JSON message; bare NaN and Infinity are read.

    Raises:
        WireError: the bytes are not JSON in UTF-8, or not a map.
    """
    try:
        data = json.loads(body.decode("utf-8-sig"), parse_int=_int)
    except (ValueError, RecursionError) as error:
        raise WireError("body", f"is not JSON ({str(error) or type(error).__name__})") from error
    if not isinstance(data, dict):
        raise WireError("body", f"must be a map, not {type(data).__name__}")
    return data


def read_points(data: Mapping[str, Any]) -> Batch:
    """Read the points form. Every point is one record, also a refused one (it keeps its number).

    Raises:
        WireError: `points` is no list, or the head of the message is wrong.
    """
    points = data.get("points")
    if not isinstance(points, list):
        raise WireError("points", f"must be a list, not {type(points).__name__}")
    if len(points) > MAX_RECORDS:
        raise TooLarge("points", f"{len(points)} points; at most {MAX_RECORDS} in one message")
    seq = "seq" if "first_seq" not in data else "first_seq"
    head = read_head(data, len(points), form="json", journal=unnamed_journal(data), seq=seq)
    return _filled(head, points)


def unnamed_journal(data: Mapping[str, Any]) -> str:
    """Return the journal of a sender that names none: the same for all it sends for its rank."""
    return hashlib.md5(f"json-{data.get('rank', 0)}".encode(), usedforsecurity=False).hexdigest()


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


def _filled(head: Batch, points: Sequence[Any]) -> Batch:
    n = len(points)
    steps, tokens, times = (np.full(n, fill, np.int64) for fill in (NO_STEP, NO_TOKENS, NO_TIME))
    refused = list(head.refused)
    rows: dict[str, list[tuple[int, float]]] = {}
    for i, point in enumerate(points):
        try:
            name, value = _name(point), _value(point)
            steps[i], tokens[i], times[i] = _step(point), _tokens(point), _time(point)
        except ValueError as error:
            steps[i] = NO_STEP
            refused.append(Refusal(i, _shown_name(point), str(error)))
            continue
        rows.setdefault(name, []).append((i, value))
    if len(rows) > MAX_COLUMNS:
        raise TooLarge("points", f"{len(rows)} names; at most {MAX_COLUMNS} in one message")
    return replace(
        head,
        steps=steps,
        tokens=tokens,
        times=times,
        columns=_columns(rows),
        refused=tuple(refused),
    )


def _columns(rows: Mapping[str, Sequence[tuple[int, float]]]) -> Columns:
    return tuple(
        Column(
            name,
            np.array([i for i, _ in pairs], dtype=np.uint32),
            np.array([value for _, value in pairs], dtype=np.float64),
        )
        for name, pairs in rows.items()
    )


def _shown_name(point: object) -> str:
    name = point.get("name") if isinstance(point, dict) else None
    text = name if isinstance(name, str) else ""
    return text[:250].encode(errors="replace").decode().replace("\0", "\ufffd")


def _name(point: object) -> str:
    if not isinstance(point, dict):
        raise ValueError(f"a point is a map, not {type(point).__name__}")
    name = point.get("name")
    if not isinstance(name, str):
        raise ValueError(f"name must be text, not {name!r:.80}")
    problem = name_problem(name)
    if problem:
        raise ValueError(problem)
    return name


def _value(point: Mapping[str, Any]) -> float:
    if "value" not in point:
        raise ValueError("value is missing")
    value = point["value"]
    if value is None:
        raise ValueError("value is null")
    if isinstance(value, str) and value in NON_FINITE:
        return NON_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"value must be a number, not {value!r:.80}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("value is beyond a 64-bit float") from None


def _step(point: Mapping[str, Any]) -> int:
    if "step" not in point:
        raise ValueError("step is missing")
    return _integral(point["step"], "step", 0)


def _tokens(point: Mapping[str, Any]) -> int:
    value = point.get("tokens")
    return NO_TOKENS if value is None else _integral(value, "tokens", 0)


def _time(point: Mapping[str, Any]) -> int:
    value = point.get("ts")
    if value is None:
        return NO_TIME
    if isinstance(value, float) and math.isfinite(value):
        value = round(value)
    return _integral(value, "ts", -MAX_STEP)


def _integral(value: object, name: str, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise ValueError(f"{name} must be a whole number, not {value!r:.80}")
    if not least <= value <= MAX_STEP:
        raise ValueError(f"{name} must be from {least} to 2^63-1, not {value!r:.80}")
    return value
