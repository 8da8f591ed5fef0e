"""The journal that a process writes: on this machine's disk before anything is sent.

`append` hands the bytes to the operating system with one `write`, so they outlive the process,
also one that is killed. `sync` (called by the sending thread) puts them on the disk, so what was
sent also outlives the machine. Neither waits for the network.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safehold.durability import sync_folder
from safehold.journal.claims import LOCK, Claim, claim
from safehold.journal.frames import MAGIC, MAX_RECORD_BYTES, frame, segment_path
from safehold.journal.records import pack_record
from safehold.wire import NO_STEP, NO_TOKENS, EventKind

logger = logging.getLogger(__name__)

LIMIT_BYTES = 2 * 2**30  # a guess: a week of 20 metrics at 100 ms a step, unsent
SEGMENT_BYTES = 4 * 2**20
# Room beyond the limit that only events may use: they are few and matter more than points.
EVENT_ROOM_BYTES = 16 * 2**20


class Journal:
    """Numbered records of one rank from one start of its process.

    Attributes:
        folder: Where its segments lie.
        rank: Whose records they are.
        id: 32 hexadecimal digits.
        last_seq: Number of the last record.
        num_dropped: Records that found no room.
        has_news: Set by each record; whoever sends waits for it and clears it.
        pid: Of the process that may write; a forked copy writes nothing.
    """

    def __init__(
        self,
        root: Path,
        rank: int,
        *,
        limit_bytes: int = LIMIT_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        self.rank = rank
        self.id = uuid.uuid4().hex
        self.folder = root / f"rank-{rank:05d}-{self.id}"
        self.folder.mkdir(parents=True)
        self.last_seq = 0
        self.num_dropped = 0
        self.has_news = threading.Event()
        self._claim: Claim | None = claim(self.folder, is_new=True)
        self._limit_bytes = limit_bytes
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        self._sync_lock = threading.Lock()
        self.pid = os.getpid()
        self._file = -1
        self._unsynced: list[int] = []
        self._new_names = True
        self._new_folder = True
        self._first_seq = 1  # of the open segment
        self._written_bytes = 0  # of the open segment
        self._closed: deque[tuple[int, Path, int]] = deque()  # first number, path, bytes
        self._held_bytes = 0  # of the closed ones
        self._synced_seq = 0
        self._untold_drops = 0
        self._why = ""

    @property
    def synced_seq(self) -> int:
        """Number of the last record that is surely on the disk."""
        return self._synced_seq

    def append(self, record: bytes, *, event: bool = False) -> int:
        """Write one record; never raises for a disk that is full or gone.

        Args:
            record: As `pack_record` made it.
            event: It may use the room that is kept for events.

        Returns:
            Its number, or 0 where it was dropped (counted, and told later) or this is a forked
            copy of the process, such as a data loading worker.
        """
        if os.getpid() != self.pid:
            return 0
        with self._lock:
            if self._untold_drops:
                self._tell_drops()
            seq = self._write(record, event=event)
            is_first_drop = not seq and self._drop()
        # Not under the lock: who handles the logs may come back here.
        if is_first_drop:
            reason = {"folder": str(self.folder), "reason": self._why}
            logger.warning("journal.record_dropped", extra=reason)
        return seq

    def sync(self) -> int:
        """Put what was appended on the disk; returns the number of the last such record."""
        with self._sync_lock:
            with self._lock:
                still_open = [os.dup(self._file)] if self._file >= 0 else []
                seq, files = self.last_seq, self._unsynced + still_open
                self._unsynced = []
                new_names, self._new_names = self._new_names, False
            if seq > self._synced_seq:
                self._sync_files(files, new_names)
            for file in files:
                os.close(file)
            self._synced_seq = max(self._synced_seq, seq)
            return self._synced_seq

    def _sync_files(self, files: Sequence[int], new_names: bool) -> None:
        try:
            for file in files:
                os.fdatasync(file)
            if new_names:
                sync_folder(self.folder)
            if self._new_folder:  # the folder's own name lies in the one above, and so on
                self._new_folder = False
                sync_folder(self.folder.parent)
                sync_folder(self.folder.parent.parent)
        except OSError as error:
            # Sending is then the safest that is left: the bytes are with the operating system.
            logger.warning(
                "journal.sync_failed", extra={"folder": str(self.folder), "reason": str(error)}
            )

    def forget(self, acked: int) -> None:
        """Delete the segments whose records are all stored by the server."""
        while True:
            with self._lock:
                next_first = self._closed[1][0] if len(self._closed) > 1 else self._first_seq
                if not self._closed or next_first > acked + 1:
                    return
                _, path, size = self._closed.popleft()
                self._held_bytes -= size
            path.unlink(missing_ok=True)

    def close(self, *, acked: int = 0) -> None:
        """Sync and close; where the server holds every record the folder goes. Never raises for the disk."""
        if os.getpid() != self.pid or self._claim is None:
            return
        owned, self._claim = self._claim, None
        with self._lock:
            if self._untold_drops:
                self._tell_drops()
        with contextlib.suppress(OSError):
            self.sync()
        with self._lock:
            if self._file >= 0:
                with contextlib.suppress(OSError):  # a network's file system tells late errors here
                    os.close(self._file)
            self._file = -1
            self._limit_bytes = -EVENT_ROOM_BYTES  # whoever still logs is told, not served
        if acked >= self.last_seq:
            remove_journal(self.folder, owned)
        owned.release()

    def _has_room(self, size_bytes: int, *, event: bool) -> bool:
        limit = self._limit_bytes + (EVENT_ROOM_BYTES if event else 0)
        return self._held_bytes + self._written_bytes + size_bytes <= limit

    def _write(self, record: bytes, *, event: bool) -> int:
        if len(record) > MAX_RECORD_BYTES:
            return self._refuse(f"it has {len(record)} bytes")
        if not self._has_room(len(record), event=event):
            return self._refuse("the limit of the journal is reached")
        data = frame(self.last_seq + 1, record)
        try:
            self._room_in_segment(len(data))
            self._put(data)
        except OSError as error:
            return self._refuse(str(error))
        self.last_seq += 1
        if not self.has_news.is_set():  # setting it anew would cost a lock each time
            self.has_news.set()
        return self.last_seq

    def _put(self, data: bytes) -> None:
        # By place, so that whatever a failed write left behind is written over.
        written = os.pwrite(self._file, data, self._written_bytes)
        if written != len(data):
            os.ftruncate(self._file, self._written_bytes)
            raise OSError(f"only {written} of {len(data)} bytes could be written")
        self._written_bytes += written

    def _room_in_segment(self, size_bytes: int) -> None:
        if self._file >= 0 and self._written_bytes + size_bytes <= self._segment_bytes:
            return
        if self._file >= 0 and self._written_bytes <= len(MAGIC):
            return
        file = self._new_segment(segment_path(self.folder, self.last_seq + 1))
        if self._file >= 0:
            self._unsynced.append(self._file)
            self._held_bytes += self._written_bytes
            old = segment_path(self.folder, self._first_seq)
            self._closed.append((self._first_seq, old, self._written_bytes))
        self._file, self._written_bytes, self._new_names = file, len(MAGIC), True
        self._first_seq = self.last_seq + 1

    def _new_segment(self, path: Path) -> int:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            if os.write(file, MAGIC) == len(MAGIC):
                return file
            raise OSError("no room for a new segment")
        except OSError:
            os.close(file)
            path.unlink(missing_ok=True)
            raise

    def _refuse(self, why: str) -> int:
        self._why = why
        return 0

    def _drop(self) -> bool:
        """Count a dropped record; returns whether it is the first of several."""
        self._untold_drops += 1
        self.num_dropped += 1
        return self._untold_drops == 1

    def _tell_drops(self) -> None:
        """Say how many were dropped, once points find room again (at the end: in any case)."""
        num = self._untold_drops
        text = f"{num} records of rank {self.rank} were dropped: {self._why}."
        record = message({"level": "error", "text": text, "dropped": num})
        at_end = self._claim is None
        if (at_end or self._has_room(2 * len(record), event=False)) and self._write(
            record, event=True
        ):
            self._untold_drops = 0


def message(data: dict[str, Any], kind: EventKind = "message") -> bytes:
    """Return an event that belongs to no step, from now."""
    return pack_record(
        step=NO_STEP, tokens=NO_TOKENS, at_ms=time.time_ns() // 1_000_000, kind=kind, data=data
    )


def remove_journal(folder: Path, owned: Claim) -> None:
    """Delete a journal whose records are all stored by the server; what cannot be deleted stays and is told.

    The lock goes last and is given up before: on NFS an open file stays in its folder under another name.
    """
    try:
        for path in folder.iterdir():
            if path.name != LOCK:
                path.unlink(missing_ok=True)
        owned.release()
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
    except OSError as error:
        extra = {"folder": str(folder), "reason": str(error)}
        logger.warning("journal.not_removed", extra=extra)
