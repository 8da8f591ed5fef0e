"""What notes become when they are sent: one bounded message a group. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from safehold.wire import Batch, encode

# Beyond it the records stay behind and the page asks the server; below Redis' own limits for slow readers.
MAX_BODY_BYTES = 256 * 1024
# Of each kind but metrics; a page that misses some is told to ask again.
MAX_ITEMS = 200


@dataclass(frozen=True, slots=True)
class Records:
    """What was stored of one journal.

    Attributes:
        attempt: Number of the attempt.
        payload: The batch in its packed form where at hand; otherwise it is packed when it is sent.
        is_too_large: Only its numbers are told.
    """

    attempt: int
    batch: Batch
    payload: bytes | None = None
    is_too_large: bool = False


def records_of(attempt: int, batch: Batch, payload: bytes | None = None) -> Records:
    """Return what is told of a batch, and nothing that is not worth holding until then."""
    if batch.num_points * 8 <= MAX_BODY_BYTES:
        return Records(attempt, batch, payload)
    return Records(attempt, replace(_records(batch), columns=()), is_too_large=True)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened: the kind, and what is told of it."""

    kind: str
    content: Any


def bundle(message_type: str, notes: Sequence[Note]) -> dict[str, Any]:
    """Return the message for a group of channels from what was noted since the last one."""
    if message_type == "project.bundle":
        return {"type": message_type, "rows": _rows(notes)}
    metrics = [note.content for note in notes if note.kind == "metrics"]
    others = [note for note in notes if note.kind != "metrics"]
    message: dict[str, Any] = {"type": message_type}
    if metrics:
        message["parts"] = _parts(metrics)
    if others:
        message["items"] = [[note.kind, note.content] for note in others[-MAX_ITEMS:]]
        message["is_cut"] = len(others) > MAX_ITEMS
    return message


def _rows(notes: Iterable[Note]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for note in notes:
        run_id, row = note.content
        rows.setdefault(str(run_id), {}).update(row)
    return rows


def _parts(metrics: Iterable[Records]) -> list[list[Any]]:
    """Return [attempt, rank, journal, first_seq, last_seq, packed records or None] of each batch."""
    parts: list[list[Any]] = []
    room = MAX_BODY_BYTES
    for records in metrics:
        attempt, batch, body = records.attempt, records.batch, None
        if batch.n and not records.is_too_large and room > 0:
            body = records.payload or encode(_records(batch))
            room -= len(body)
        if room <= 0:
            body = None
        known = parts and parts[-1][:3] == [attempt, batch.rank, batch.journal]
        if known and body is None and parts[-1][5] is None and batch.first_seq == parts[-1][4] + 1:
            parts[-1][4] = batch.last_seq
            continue
        parts.append([attempt, batch.rank, batch.journal, batch.first_seq, batch.last_seq, body])
    return parts


def _records(batch: Batch) -> Batch:
    return replace(batch, events=(), heartbeat=None, applied=(), refused=())
