"""What waits to be told to one browser: bounded, filtered by name, and aware of gaps. Pure, but for the clock.

Every bundle says which records of which journal it holds. Where the next bundle does not follow on, something was
lost on the way, and the page is told to ask the server; so it is when a bundle came without its records.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from runs.metricstore import tail
from runs.metricstore.curve import exact, spoken
from safehold.wire import NO_TIME, Batch, Column

# Viewers of a run ask for the same: its newest bundles are taken apart once for all of them.
_KEPT = 16
# Points that may wait for a slow browser; a chart shows a thousand.
MAX_POINTS = 20_000
MAX_ITEMS = 200
Journal = tuple[int, int, str]  # attempt, rank, journal


class RunWatch:
    """One viewer of a run.

    Attributes:
        names: The metrics that it wants; of others it learns nothing.
    """

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._marks: dict[Journal, int] = {}
        self._parts: list[dict[str, Any]] = []
        self._num_points = 0
        self._items: dict[str, list[Any]] = {}
        self._must_reload = False

    def add(self, message: Mapping[str, Any]) -> None:
        """Take in one bundle."""
        for part in message.get("parts", ()):
            self._add_part(*part)
        for kind, content in message.get("items", ()):
            items = self._items.setdefault(kind, [])
            items.append(content)
            del items[:-MAX_ITEMS]
        self._must_reload |= bool(message.get("is_cut"))

    def take(self) -> list[dict[str, Any]]:
        """Return the messages for the browser and forget them."""
        messages: list[dict[str, Any]] = []
        if self._must_reload:
            messages.append({"kind": "reload"})
        elif self._parts:
            messages.append({"kind": "metrics", "parts": self._parts})
        messages += [{"kind": kind, "items": items} for kind, items in self._items.items()]
        self._parts, self._num_points, self._items = [], 0, {}
        self._must_reload = False
        return messages

    def _add_part(
        self, attempt: int, rank: int, journal: str, first: int, last: int, body: bytes | None
    ) -> None:
        key = (attempt, rank, journal)
        before = self._marks.get(key)
        # A heartbeat tells the mark that it found (`last`); of records `first` must follow on.
        if before is not None and first > before + 1:
            self._must_reload = True
        has_records = last >= first
        self._marks[key] = max(before or 0, last)
        if not has_records:
            return
        if body is None:
            self._must_reload = True
        elif not self._must_reload:
            self._add_records(*_part(key, body, self.names, last))

    def _add_records(self, num_points: int, part: dict[str, Any]) -> None:
        self._num_points += num_points
        if self._num_points > MAX_POINTS:
            self._must_reload = True
            self._parts = []
        elif num_points:
            self._parts.append(part)


@lru_cache(_KEPT)
def _part(
    key: Journal, body: bytes, names: frozenset[str], last: int
) -> tuple[int, dict[str, Any]]:
    """Return how many points of packed records were chosen, and them as a page reads them; not to be changed."""
    attempt, rank, journal = key
    batch = _decoded(body)
    columns = [column for column in batch.columns if column.name in names]
    num_points = sum(column.num_points for column in columns)
    if not 0 < num_points <= MAX_POINTS:
        return num_points, {}
    return num_points, {
        "attempt": attempt,
        "rank": rank,
        "journal": journal,
        "last_seq": last,
        "steps": exact(batch.steps),
        "tokens": [None if each < 0 else each for each in batch.tokens.tolist()],
        "times": _times(batch),
        "columns": {column.name: _column(column) for column in columns},
    }


def _times(batch: Batch) -> list[int]:
    """Return the sender's times; of a sender that gave none that of receipt, which is now."""
    times = batch.times
    return np.where(times == NO_TIME, int(time.time() * 1000), times).tolist()  # type: ignore[no-any-return]


@lru_cache(_KEPT)
def _decoded(body: bytes) -> Batch:
    return tail.decoded(body)


def _column(column: Column) -> dict[str, Any]:
    at = range(column.num_points) if column.index is None else column.index.tolist()
    values = column.values.tolist()
    if not np.isfinite(column.values).all():
        values = [spoken(value) for value in values]
    return {"at": list(at), "values": values}
