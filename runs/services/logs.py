"""Log text of attempts: appended by byte offset, so that a retry adds nothing; bounded per attempt."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from controlplane.common.errors import SafeholdError
from runs import live
from runs.models import Attempt, LogChunk

# What a live message carries; a page that wants more asks for the range.
LIVE_BYTES = 8 * 1024
MAX_SOURCES = 4096


class LogGap(SafeholdError):
    """The piece begins beyond the end of what is stored: the sender goes back to `next`."""

    code = "gap"
    http_status = 409


@dataclass(frozen=True)
class LogText:
    """A stretch of one source.

    Attributes:
        start: Byte offset of its first byte.
        next: Byte offset after its last.
        data: The bytes as they were written.
        first: Offset of the oldest byte that is still kept.
    """

    start: int
    next: int
    data: bytes
    first: int

    @property
    def text(self) -> str:
        """The bytes as text; what is not UTF-8 shows as a replacement character."""
        return self.data.decode(errors="replace")


@dataclass(frozen=True)
class Hit:
    """One line that holds what was searched for; `offset` is that of the line."""

    source: str
    offset: int
    line: str


@transaction.atomic
def append_log(*, attempt: Attempt, source: str, offset: int, data: bytes) -> int:
    """Store what is new of a piece of log text and return the offset that comes next.

    Beyond the limit per attempt (`SAFEHOLD_LOG_MAX_BYTES`) the oldest text goes: the end of a log tells why a
    training died.

    Raises:
        LogGap: Bytes between the end of what is stored and this piece are missing.
    """
    due = next_offset(attempt, source)
    if offset > due:
        raise LogGap(f"The log {source} goes on at byte {due}, not {offset}.", extra={"next": due})
    new = data[due - offset :]
    if not new:
        return due
    chunk = LogChunk(
        attempt=attempt, source=source, offset=due, size=len(new), data=new,
        received_at=timezone.now(),
    )  # fmt: skip
    # Two senders of one piece: the second waits for the first, finds the offset taken, and adds nothing.
    LogChunk.objects.bulk_create([chunk], ignore_conflicts=True)
    after = next_offset(attempt, source)
    _drop_oldest(attempt, due, after)
    told = {
        "attempt": attempt.number, "source": source, "offset": after - len(new[-LIVE_BYTES:]),
        "next": after, "text": new[-LIVE_BYTES:].decode(errors="replace"),
    }  # fmt: skip
    transaction.on_commit(partial(live.publish, attempt.run_id, "log", told))
    return after


def next_offset(attempt: Attempt, source: str) -> int:
    """Return the byte after the last one stored."""
    last = _of(attempt, source).order_by("-offset").values_list("offset", "size").first()
    return sum(last) if last else 0


def read_tail(*, attempt: Attempt, source: str, limit_bytes: int = 64 * 1024) -> LogText:
    """Return the end of a log, from the beginning of a line where that fits."""
    end = next_offset(attempt, source)
    found = read_range(attempt=attempt, source=source, start=max(0, end - limit_bytes), end=end)
    cut = found.data.find(b"\n") + 1 if found.start > found.first else 0
    return LogText(found.start + cut, found.next, found.data[cut:], found.first)


def read_range(
    *, attempt: Attempt, source: str, start: int, end: int | None = None, limit_bytes: int = 2**20
) -> LogText:
    """Return the bytes from `start` up to `end`, at most `limit_bytes`; what was dropped is skipped."""
    chunks = _of(attempt, source).order_by("offset")
    first = chunks.values_list("offset", flat=True).first() or 0
    start = max(start, first)
    stop = min(start + limit_bytes, end) if end is not None else start + limit_bytes
    data = bytearray()
    # A chunk holds at most a mebibyte (the wire's limit), so the one that holds `start` begins no earlier.
    rows = chunks.filter(offset__lt=stop, offset__gt=start - 2**21)
    for offset, piece in rows.values_list("offset", "data").iterator(chunk_size=16):
        raw = bytes(piece)
        data += raw[max(0, start - offset) : max(0, stop - offset)]
    return LogText(start, start + len(data), bytes(data), first)


def search(
    *, attempt: Attempt, text: str, source: str | None = None, limit: int = 200
) -> list[Hit]:
    """Return the newest lines that hold `text`, whatever its case, newest first."""
    wanted, hits = text.casefold(), []
    if not wanted:
        return []
    for name in [source] if source else sources(attempt):
        for offset, line in _lines_backwards(attempt, name):
            if wanted in line.casefold():
                hits.append(Hit(name, offset, line))
            if len(hits) >= limit:
                return hits
    return hits


def sources(attempt: Attempt) -> list[str]:
    """Return the sources that have written, `rank-0` first."""
    rows = LogChunk.objects.filter(attempt=attempt).order_by("source")
    names = rows.values_list("source", flat=True).distinct()
    return sorted(names, key=lambda name: (name != "rank-0", name))


def _lines_backwards(attempt: Attempt, source: str) -> Iterator[tuple[int, str]]:
    rest, rest_at = b"", 0
    rows = _of(attempt, source).order_by("-offset").values_list("offset", "data")
    for offset, piece in rows.iterator(chunk_size=4):
        whole = bytes(piece) + rest
        cut = whole.find(b"\n") + 1
        rest, rest_at = whole[:cut], offset
        at = offset + len(whole)
        for line in reversed(whole[cut:].split(b"\n")):
            at -= len(line)
            if line:
                yield at, line.decode(errors="replace")
            at -= 1
    if rest.strip():
        yield rest_at, rest.rstrip(b"\n").decode(errors="replace")


def _of(attempt: Attempt, source: str) -> QuerySet[LogChunk]:
    return LogChunk.objects.filter(attempt=attempt, source=source)


def _drop_oldest(attempt: Attempt, before: int, after: int) -> None:
    """Keep the limit. Looked at once in a 64th of it, so that the cost of a piece does not grow with the log."""
    limit = settings.SAFEHOLD_LOG_MAX_BYTES
    stride = max(1, limit // 64)
    if before // stride == after // stride:
        return
    chunks = LogChunk.objects.filter(attempt=attempt)
    total = chunks.aggregate(total=Sum("size"))["total"] or 0
    gone = []
    for pk, size in chunks.order_by("pk").values_list("pk", "size").iterator():
        if total <= limit:
            break
        gone.append(pk)
        total -= size
    chunks.filter(pk__in=gone).delete()
