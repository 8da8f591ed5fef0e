"""Who owns a journal: its writer while it lives, afterwards the one process that sends the rest.

A POSIX record lock, because it ends with the process and, unlike `flock`, is not kept by forked
children such as data loading workers. Within one process such locks do not exclude each other, so
a set of open folders stands beside them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

LOCK = "lock"

_open: set[Path] = set()
_guard = threading.Lock()


class Claim:
    """Ownership of one journal folder until released."""

    def __init__(self, folder: Path, file: int) -> None:
        self._folder = folder
        self._file = file

    def release(self) -> None:
        """Let another process have it."""
        with _guard:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            _open.discard(self._folder)


def claim(folder: Path, *, is_new: bool = False) -> Claim | None:
    """Return the ownership of a journal, or `None` where another has it.

    Args:
        folder: Of the journal.
        is_new: This process has just made it, so a file system without locks is no obstacle.
    """
    folder = folder.resolve()
    with _guard:
        # Opening and closing the lock file again would drop our own lock: POSIX says so.
        if folder in _open:
            return None
        try:
            file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            return None
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            is_taken = error.errno in (errno.EACCES, errno.EAGAIN)
            if is_taken or not is_new:  # without locks nobody knows whether the writer lives
                os.close(file)
                return None
        _open.add(folder)
        return Claim(folder, file)
