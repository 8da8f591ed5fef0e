"""The wrapper's exit record, brought into its shape.

It was written beside the trainer, where everything can be overwritten, so nothing in it is trusted: what
has another type is dropped, and no text holds what the database cannot.
"""

from collections.abc import Mapping
from typing import Any

_MAX_RANKS = 1000
_MAX_CHARACTERS = 4000
# Exit codes and signals are bytes; a larger number was not the kernel's.
_MAX_NUMBER = 255


def cleaned(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with every field present and of its type; unknown fields are left out."""
    return {
        "v": 1,
        "started_at": _text(record.get("started_at")),
        "ended_at": _text(record.get("ended_at")),
        "outcome": _text(record.get("outcome")),
        "ranks": _ranks(record.get("ranks")),
        "signal": _number(record.get("signal")),
        "message": _text(record.get("message")),
    }


def _ranks(value: object) -> dict[str, dict[str, Any]]:
    if not isinstance(value, Mapping):
        return {}
    found = {
        str(int(key)): _rank(rank)
        for key, rank in list(value.items())[:_MAX_RANKS]
        if isinstance(rank, Mapping) and _is_rank(key)
    }
    return dict(sorted(found.items(), key=lambda pair: int(pair[0])))


def _is_rank(key: object) -> bool:
    return isinstance(key, str) and len(key) <= 7 and key.isascii() and key.isdecimal()


def _rank(rank: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "exit_code": _number(rank.get("exit_code")),
        "signal": _number(rank.get("signal")),
        "error": _text(rank.get("error")),
    }


def _number(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MAX_NUMBER else None  # type: ignore[operator,return-value]


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    # A NUL cannot be stored in PostgreSQL, a lone surrogate not be encoded.
    return value[-_MAX_CHARACTERS:].replace("\0", "").encode(errors="replace").decode()
