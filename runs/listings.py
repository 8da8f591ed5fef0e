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

from controlplane.common.cursors import LARGEST_ID, UnreadableCursor

ModelT = TypeVar("ModelT", bound=Model)
PAGE_SIZE = 50


@dataclass(frozen=True)
class Page(Generic[ModelT]):
    """One page: its rows, and the cursor of the next one, empty at the end."""

    rows: list[ModelT]
    next_cursor: str


def page_of(
    queryset: "QuerySet[ModelT]",
    *,
    order: str = "-pk",
    cursor: str = "",
    size: int = PAGE_SIZE,
    is_strict: bool = False,
) -> Page[ModelT]:
    """Cut one page.

    Args:
        queryset: Filtered; its order is replaced.
        order: A column that is never null, with `-` for falling; the primary key breaks ties.
        cursor: What the page before gave.
        size: Rows of a page.
        is_strict: What cannot be read as a cursor is refused; else it means the first page, as suits a page for people.

    Raises:
        UnreadableCursor: It is none of this list and order, and is_strict.
    """
    column, is_falling = order.removeprefix("-"), order.startswith("-")
    tie = "-pk" if is_falling else "pk"
    ordered = queryset.order_by(*dict.fromkeys([order, tie]))
    try:
        if position := _read(cursor, order):
            side = "lt" if is_falling else "gt"
            ordered = _from(ordered, _behind(column, side, *position))
    except UnreadableCursor:
        if is_strict:
            raise
    rows = list(ordered[: size + 1])
    has_more = len(rows) > size
    rows = rows[:size]
    return Page(rows, _write(_value(rows[-1], column), rows[-1].pk, order) if has_more else "")


def _from(ordered: "QuerySet[ModelT]", position: Q) -> "QuerySet[ModelT]":
    try:
        return ordered.filter(position)
    except (ValueError, TypeError, OverflowError, ValidationError) as error:
        # One made by hand: its value is none that the column can hold.
        raise UnreadableCursor from error


def _behind(column: str, side: str, value: Any, pk: int) -> Q:
    if column == "pk":
        return Q(**{f"pk__{side}": pk})
    return Q(**{f"{column}__{side}": value}) | Q(**{column: value, f"pk__{side}": pk})


def _value(row: Model, column: str) -> Any:
    return getattr(row, column)


def _write(value: Any, pk: int, order: str) -> str:
    text = json.dumps([value, pk, order], default=str)
    return base64.urlsafe_b64encode(text.encode()).decode()


def _read(cursor: str, order: str) -> tuple[Any, int] | None:
    if not cursor:
        return None
    try:
        value, pk, its_order = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        str(value).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise UnreadableCursor from error
    if type(pk) is not int or type(value) not in {str, int, float} or abs(pk) > LARGEST_ID:
        raise UnreadableCursor
    if "\0" in str(value) or its_order != order:
        raise UnreadableCursor
    return value, pk
