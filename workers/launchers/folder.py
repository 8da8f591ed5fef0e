"""The folder of one local attempt: what is written there, once, and what can be read from it."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.launchers.processes import Identity

# An exit record has at most 4 KiB; what is longer was not written by the wrapper.
_MAX_RECORD_BYTES = 64 * 1024
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Folder:
    """One attempt's files.

    Ours are `lock` (held by whoever starts it, then by its wrapper), `fence`, `stop`, `spec.json`,
    `config.json`, `token` and `logs/wrapper.out`; the wrapper and the trainer add theirs.
    """

    path: Path

    def make(self) -> None:
        """Make the folder, for this user alone."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700, exist_ok=True)
        (self.path / "logs").mkdir(mode=0o700, exist_ok=True)

    @property
    def exists(self) -> bool:
        """Whether anybody made the folder.

        Raises:
            OSError: It cannot be seen.
        """
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        return True

    @property
    def is_fenced(self) -> bool:
        """Whether the name is closed."""
        return (self.path / "fence").exists()

    def fence(self) -> None:
        """Close the name."""
        self.make()
        self.note_once("fence")

    def wrapper(self) -> Identity | None:
        """Return the wrapper that was started here, dead or alive; None before there was one."""
        record = self.read("wrapper.json")
        ticks, _, boot_id = str(record.get("started", "")).partition("@")
        try:
            return Identity(int(record["pid"]), int(ticks), boot_id)
        except (KeyError, TypeError, ValueError):
            return None

    def exit(self) -> dict[str, Any]:
        """Return the exit record, or {} where there is none."""
        return self.read("exit.json")

    def has_unsent_saves(self, within_seconds: float) -> bool:
        """Whether the ranks, which ended so lately, saved checkpoints of which the control plane has not heard."""
        try:
            age = time.time() - (self.path / "exit.json").stat().st_mtime
        except FileNotFoundError:
            return False
        return age < within_seconds and any((self.path / "outbox").glob("*.json"))

    def read(self, name: str) -> dict[str, Any]:
        """Return a JSON file of this folder, or {} where there is none that can be used."""
        try:
            with (self.path / name).open("rb") as file:
                record = json.loads(file.read(_MAX_RECORD_BYTES))
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return record if isinstance(record, dict) else {}

    def write(self, name: str, text: str) -> Path:
        """Write a file for this user alone, whole or not at all."""
        path = self.path / name
        part = path.with_name(f".{name}.{os.getpid()}.part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        part.replace(path)
        return path

    def note_once(self, name: str) -> bool:
        """Make an empty file; return whether it is new."""
        try:
            made = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        os.close(made)
        return True

    @contextmanager
    def locked(self, timeout_seconds: float) -> Iterator[int | None]:
        """Hold the lock and yield its descriptor, or None where somebody else keeps it.

        A wrapper that inherits the descriptor holds the lock for its whole life, so a lock that is
        free says that nobody is starting here and no wrapper runs.
        """
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield descriptor if self._try_lock(descriptor, timeout_seconds) else None
        finally:
            os.close(descriptor)

    @property
    def is_locked(self) -> bool:
        """Whether somebody starts the attempt or its wrapper runs."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _try_lock(self, descriptor: int, timeout_seconds: float) -> bool:
        deadline = time.monotonic() + timeout_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self.wrapper() is not None or time.monotonic() > deadline:
                    return False
                time.sleep(_POLL_SECONDS)
            else:
                return True
