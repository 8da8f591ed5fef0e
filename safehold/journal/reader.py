"""Reading a journal in order, while it is written or after its process died."""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

from safehold.journal.frames import HEAD_BYTES, MAGIC, MAX_RECORD_BYTES, parse, segments
from safehold.journal.records import BLANK, lost_record

logger = logging.getLogger(__name__)

_FOLDER = re.compile(r"rank-(\d{5,})-([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive records, the first with number `first_seq`."""

    first_seq: int
    records: list[bytes]

    @property
    def last_seq(self) -> int:
        """Number of the last record; `first_seq` - 1 where there is none."""
        return self.first_seq + len(self.records) - 1


class Reader:
    """A place in a journal.

    Damaged or missing records are read as blank ones, the first of which says how many are lost:
    the numbers go on and the server does not wait for what cannot come.
    """

    def __init__(self, folder: Path) -> None:
        match = _FOLDER.fullmatch(folder.name)
        if match is None:
            raise ValueError(f"{folder} is not the folder of a journal.")
        self.folder = folder
        self.rank = int(match[1])
        self.journal = match[2]
        self._due = 1
        self._path: Path | None = None
        self._offset = 0
        self.seek(0)

    @property
    def next_seq(self) -> int:
        """Number of the record that comes next."""
        return self._due

    def seek(self, after: int) -> None:
        """Go on with record `after` + 1."""
        self._due = after + 1
        at_or_before = [path for first, path in segments(self.folder) if first <= self._due]
        self._path = at_or_before[-1] if at_or_before else None
        self._offset = len(MAGIC)

    def skip_deleted(self) -> None:
        """Go to the oldest record that is still here: older ones were stored by the server."""
        found = segments(self.folder)
        if found and found[0][0] > self._due:
            self.seek(found[0][0] - 1)

    def read(self, *, most: int = 20_000, most_bytes: int = 4 * 2**20) -> Piece:
        """Return the next records; none where the end is reached for now.

        Args:
            most: At most so many records.
            most_bytes: About so many bytes; a single longer record is read whole.
        """
        first, records, size = self._due, list[bytes](), 0
        while len(records) < most and size < most_bytes:
            more = self._read_some(most - len(records), most_bytes)
            if not more:
                break
            records += more
            size += sum(map(len, more))
        return Piece(first, records)

    def left_bytes(self) -> int:
        """Return the bytes behind the last readable record: a torn tail, where not 0."""
        if self._path is None:
            return 0
        try:
            return max(0, self._path.stat().st_size - self._offset)
        except FileNotFoundError:
            return 0

    def _read_some(self, most: int, most_bytes: int) -> list[bytes]:
        """Read on in this segment, or in the next one where this one has no more."""
        for attempt in range(3):
            records: list[bytes] | None = self._read_here(most, most_bytes)
            if not records:
                records = self._move_on(most, reread=attempt > 0)
            if records is not None:
                self._due += len(records)
                return records
        return []

    def _read_here(self, most: int, most_bytes: int) -> list[bytes]:
        while self._path is not None:
            data = _read(self._path, self._offset, most_bytes)
            records, used = parse(data, self._due, most)
            if not used and len(data) == most_bytes:  # one record longer than what was asked for
                data = _read(self._path, self._offset, MAX_RECORD_BYTES + HEAD_BYTES)
                records, used = parse(data, self._due, 1)
            self._offset += used
            if records or not used:  # else all of it lay before the place that was sought
                return records
        return []

    def _move_on(self, most: int, *, reread: bool) -> list[bytes] | None:
        """Go to the next segment; `None` = try reading again, a list = records that stand in."""
        later = [(first, path) for first, path in segments(self.folder) if self._is_later(path)]
        if not later:
            return []
        first, path = later[0]
        if first > self._due:
            # The writer may have appended to this segment just before it opened the next one.
            if self._path is not None and not reread:
                return None
            return self._stand_ins(min(first - self._due, most))
        self._path, self._offset = path, len(MAGIC)
        return None

    def _is_later(self, path: Path) -> bool:
        return self._path is None or path.name > self._path.name

    def _stand_ins(self, num: int) -> list[bytes]:
        logger.error(
            "journal.records_lost",
            extra={"folder": str(self.folder), "first_seq": self._due, "num_records": num},
        )
        text = (
            f"{num} records of rank {self.rank} from {self._due} on are lost: damaged or deleted."
        )
        return [lost_record(text), *[BLANK] * (num - 1)]


def _read(path: Path, offset: int, size_bytes: int) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        return os.pread(file, size_bytes, offset)
    finally:
        os.close(file)
