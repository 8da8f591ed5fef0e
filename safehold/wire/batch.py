"""The parts of a batch, and how batches are cut and joined. Pure numpy, no input or output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from safehold.wire.errors import Gap, WireError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Index = NDArray[np.uint32]

Phase = Literal["starting", "training", "saving", "evaluating", "paused", "finishing", "finished"]
EventKind = Literal["eval", "samples", "batch_ids", "lifecycle", "checkpoint", "message"]
CommandKind = Literal["save", "pause", "resume", "save_and_stop"]
Outcome = Literal["applied", "refused"]
Form = Literal["msgpack", "json"]

PHASES: tuple[str, ...] = get_args(Phase)
EVENT_KINDS: tuple[str, ...] = get_args(EventKind)
COMMAND_KINDS: tuple[str, ...] = get_args(CommandKind)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one metric in a batch.

    Attributes:
        name: As the sender gave it.
        index: Shape `(k,)`, uint32, strictly rising record positions; `None` = every record.
        values: Shape `(k,)` (or `(n,)` without index), float64; NaN and infinities as they are.
    """

    name: str
    index: Index | None
    values: Floats

    @property
    def num_points(self) -> int:
        """Points in this column."""
        return int(self.values.size)


Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at record `i`; `data` holds only what JSON can."""

    i: int
    kind: EventKind
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The sender's sign of life. `at` is its own clock, in unix milliseconds."""

    at: int
    step: int
    tokens: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of one command."""

    id: int | str
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One value (or one event, `name` = its kind) that was not taken, while the others were."""

    i: int
    name: str
    reason: str


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Consecutive records of one journal.

    Attributes:
        first_seq: Number of the first record; with no records the one that comes next.
        steps: Shape `(n,)`, int64; -1 = belongs to no step.
        tokens: Shape `(n,)`, int64; tokens seen, -1 = unknown.
        times: Shape `(n,)`, int64; the sender's clock in unix milliseconds, 0 = not given.
        refused: What decoding left out; never sent, it goes into the answer.
        form: How it came. A journal in the JSON form may begin at any number.
    """

    rank: int
    journal: str
    first_seq: int
    steps: Ints = field(default_factory=_no_ints)
    tokens: Ints = field(default_factory=_no_ints)
    times: Ints = field(default_factory=_no_ints)
    columns: Columns = ()
    events: tuple[Event, ...] = ()
    heartbeat: Heartbeat | None = None
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refusal, ...] = ()
    form: Form = "msgpack"

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.steps.size)

    @property
    def last_seq(self) -> int:
        """Number of the last record; `first_seq` - 1 where there is none."""
        return self.first_seq + self.n - 1

    @property
    def num_points(self) -> int:
        """Values in all columns."""
        return sum(column.num_points for column in self.columns)

    def column(self, name: str) -> Column | None:
        """Return the column of that name, if there is one."""
        return next((column for column in self.columns if column.name == name), None)


def trim(batch: Batch, after: int) -> Batch:
    """Return the part of a batch that lies beyond record `after`.

    Heartbeat and applied commands stay: they belong to the message, not to records.

    Args:
        batch: Any batch.
        after: Number of the last record that is already stored.
    """
    drop = after + 1 - batch.first_seq
    if drop <= 0:
        return batch
    drop = min(drop, batch.n)
    return replace(
        batch,
        first_seq=after + 1,
        steps=batch.steps[drop:],
        tokens=batch.tokens[drop:],
        times=batch.times[drop:],
        columns=tuple(c for c in (_cut(c, drop) for c in batch.columns) if c.num_points),
        events=tuple(replace(e, i=e.i - drop) for e in batch.events if e.i >= drop),
        refused=tuple(replace(r, i=r.i - drop) for r in batch.refused if r.i >= drop),
    )


def unseen(batch: Batch, acked: int | None) -> Batch:
    """Return what a server that holds `acked` has to store: the exactly-once rule, in one place.

    Args:
        batch: As received.
        acked: High-water mark of its journal; `None` = the journal is new.

    Raises:
        Gap: records between are missing. A new journal begins at 1; in the JSON form it may
            begin anywhere, because other senders count on from earlier work.
    """
    if acked is None and batch.form == "json":
        return batch
    mark = acked or 0
    if batch.n and batch.first_seq > mark + 1:
        raise Gap(batch.first_seq, mark)
    return trim(batch, mark)


def merge(batches: Sequence[Batch]) -> Batch:
    """Join consecutive batches of one journal into one.

    Raises:
        WireError: they are of different journals or do not follow one another.
        ValueError: there are none.
    """
    if not batches:
        raise ValueError("merge() needs at least one batch.")
    first, starts = batches[0], _starts(batches)
    return replace(
        first,
        steps=np.concatenate([b.steps for b in batches]),
        tokens=np.concatenate([b.tokens for b in batches]),
        times=np.concatenate([b.times for b in batches]),
        columns=_joined(batches, starts),
        events=tuple(
            replace(e, i=e.i + at) for b, at in zip(batches, starts, strict=True) for e in b.events
        ),
        heartbeat=next((b.heartbeat for b in reversed(batches) if b.heartbeat), None),
        applied=tuple(dict.fromkeys(a for b in batches for a in b.applied)),
        refused=tuple(
            replace(r, i=r.i + at) for b, at in zip(batches, starts, strict=True) for r in b.refused
        ),
    )


def _cut(column: Column, drop: int) -> Column:
    if column.index is None:
        return replace(column, values=column.values[drop:])
    keep = int(np.searchsorted(column.index, drop))
    index = (column.index[keep:] - np.uint32(drop)).astype(np.uint32)
    return replace(column, index=index, values=column.values[keep:])


def _starts(batches: Sequence[Batch]) -> list[int]:
    starts, first = [], batches[0]
    due = first.first_seq
    for batch in batches:
        if (batch.journal, batch.rank) != (first.journal, first.rank):
            raise WireError("journal", "only batches of one journal can be joined")
        if batch.first_seq != due:
            raise WireError("first_seq", f"is {batch.first_seq}, {due} comes next")
        starts.append(due - first.first_seq)
        due += batch.n
    return starts


def _joined(batches: Sequence[Batch], starts: Sequence[int]) -> Columns:
    total = sum(batch.n for batch in batches)
    parts: dict[str, list[tuple[Index, Floats]]] = {}
    for batch, start in zip(batches, starts, strict=True):
        every = np.arange(batch.n, dtype=np.uint32)
        for column in batch.columns:
            index = every if column.index is None else column.index
            shifted = (index + np.uint32(start)).astype(np.uint32)
            parts.setdefault(column.name, []).append((shifted, column.values))
    return tuple(_whole(name, pieces, total) for name, pieces in parts.items())


def _whole(name: str, pieces: Sequence[tuple[Index, Floats]], total: int) -> Column:
    values = np.concatenate([values for _, values in pieces])
    if values.size == total:
        return Column(name, None, values)
    return Column(name, np.concatenate([index for index, _ in pieces]), values)
