"""Reading stored log text: which sources there are, the end of one, what came after an offset."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runs.models import Attempt, LogChunk, Run

# What a page shows at first, and what one answer to "what is new" carries at most.
TAIL_BYTES = 128 * 1024
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True)
class ChosenLog:
    """One source of one attempt, and what else could be chosen."""

    attempts: list[Attempt]
    attempt: Attempt | None
    sources: list[str]
    source: str

    @property
    def file_name(self) -> str:
        """A name for the download."""
        name = self.attempt.name if self.attempt else "safehold"
        return f"{name}-{re.sub(r'[^A-Za-z0-9_.-]', '_', self.source) or 'log'}.log"


@dataclass(frozen=True)
class LogPiece:
    """Some text and the byte at which the next begins."""

    text: str = ""
    next_offset: int = 0
    has_more: bool = False
    is_cut: bool = False


def choose(run: Run, attempt_number: str, source: str) -> ChosenLog:
    """Return the log asked for; by default rank 0 of the newest attempt."""
    attempts = list(run.attempts.order_by("-number"))
    attempt = next(
        (a for a in attempts if str(a.number) == attempt_number), attempts[0] if attempts else None
    )
    found = (
        LogChunk.objects.filter(attempt=attempt)
        .order_by("source")
        .values_list("source", flat=True)
        .distinct()
    )
    sources = list(found) if attempt else []
    if source not in sources:
        source = "rank-0" if "rank-0" in sources or not sources else sources[0]
    return ChosenLog(attempts, attempt, sources, source)


def tail(log: ChosenLog, *, offset: int | None = None) -> LogPiece:
    """Return what follows `offset`, or the end of the log."""
    chunks = LogChunk.objects.filter(attempt=log.attempt, source=log.source)
    last = chunks.order_by("-offset").first() if log.attempt else None
    if last is None:
        return LogPiece(next_offset=offset or 0)
    end = last.offset + last.size
    start = max(0, end - TAIL_BYTES) if offset is None else offset
    data, position = b"", start
    for chunk in (
        chunks.filter(offset__gt=start - TAIL_BYTES * 64, offset__lt=end)
        .order_by("offset")
        .iterator()
    ):
        if chunk.offset + chunk.size <= start:
            continue
        data += bytes(chunk.data)[max(0, start - chunk.offset) :]
        position = chunk.offset + chunk.size
        if len(data) >= TAIL_BYTES and offset is not None:
            break
    return LogPiece(
        readable(data), max(position, start), position < end, is_cut=offset is None and start > 0
    )


def pieces(log: ChosenLog) -> Iterator[bytes]:
    """Yield the whole log, a stored piece at a time."""
    chunks = LogChunk.objects.filter(attempt=log.attempt, source=log.source).order_by("offset")
    for data in chunks.values_list("data", flat=True).iterator(chunk_size=50):
        yield bytes(data)


def readable(data: bytes) -> str:
    """Return text for a page: broken UTF-8 replaced, terminal colours and other controls taken out."""
    text = _ESCAPES.sub("", data.decode("utf-8", errors="replace")).replace("\r\n", "\n")
    return "".join(c if c in "\n\t" or c >= " " else "\n" if c == "\r" else "" for c in text)
