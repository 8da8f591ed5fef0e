"""Lists as pages show them: filtered, ordered, cut into pages by key instead of by offset.

A page begins behind a row, not behind a count, so a list neither skips nor repeats rows while runs are
added, and page 1,000 costs what page 1 does.
"""

import base64
import json
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

ModelT = TypeVar("ModelT", bound=Model)
PAGE_SIZE = 50


@dataclass(frozen=True)
class Page(Generic[ModelT]):
    """One page: its rows, and the cursor of the next one, empty at the end."""

    rows: list[ModelT]
    next_cursor: str


def page_of(
    queryset: "QuerySet[ModelT]", *, order: str = "-pk", cursor: str = "", size: int = PAGE_SIZE
) -> Page[ModelT]:
    """Cut one page.

    Args:
        queryset: Filtered; its order is replaced.
        order: A column that is never null, with `-` for falling; the primary key breaks ties.
        cursor: What the page before gave; anything unreadable means the first page.
        size: Rows of a page.
    """
    column, is_falling = order.removeprefix("-"), order.startswith("-")
    tie = "-pk" if is_falling else "pk"
    ordered = queryset.order_by(*dict.fromkeys([order, tie]))
    if position := _read(cursor):
        ordered = _from(ordered, _behind(column, "lt" if is_falling else "gt", *position))
    rows = list(ordered[: size + 1])
    has_more = len(rows) > size
    rows = rows[:size]
    return Page(rows, _write(_value(rows[-1], column), rows[-1].pk) if has_more else "")


def _from(ordered: "QuerySet[ModelT]", position: Q) -> "QuerySet[ModelT]":
    try:
        return ordered.filter(position)
    except (ValueError, TypeError, OverflowError, ValidationError):
        # A cursor of another order, or one made by hand: its value is none that the column can hold.
        return ordered


def _behind(column: str, side: str, value: Any, pk: int) -> Q:
    if column == "pk":
        return Q(**{f"pk__{side}": pk})
    return Q(**{f"{column}__{side}": value}) | Q(**{column: value, f"pk__{side}": pk})


def _value(row: Model, column: str) -> Any:
    return getattr(row, column)


def _write(value: Any, pk: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([value, pk], default=str).encode()).decode()


def _read(cursor: str) -> tuple[Any, int] | None:
    try:
        value, pk = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError:
        return None
    if not isinstance(pk, int) or not isinstance(value, str | int | float):
        return None
    return None if "\0" in str(value) else (value, pk)
