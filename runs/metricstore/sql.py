"""Asking the database on the path of a chart: prepared statements, binary results.

The ORM writes values into the text of a query and reads bytes as hexadecimal text; here that would cost more than
everything else together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import connection
from psycopg.types.numeric import Int8


def rows(query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return all rows of a query; integers are sent as int8, so that a query has one prepared form."""
    connection.ensure_connection()
    given = [_sent(value) for value in values]
    with psycopg.Cursor(connection.connection) as cursor, connection.wrap_database_errors:
        return cursor.execute(query.encode(), given, prepare=True, binary=True).fetchall()


def _sent(value: object) -> object:
    if type(value) is int:
        return Int8(value)
    if isinstance(value, Sequence) and value and type(value[0]) is int:
        return [Int8(each) for each in value]
    return value
