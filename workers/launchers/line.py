"""Whose turn it is on this machine: who holds its devices, and who waits for them in order.

All of it lies in files, so any worker goes on where another one died. An attempt that waits has a ticket, named by its
time; one that was let in has a hold, which counts while anything of the attempt lives. A ticket that nobody asks for
any more stands in nobody's way.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.launchers import sight
from workers.launchers.devices import Devices
from workers.launchers.folder import Folder

# Every sweep asks for every ticket; after so many that did not, the attempt is no longer known to anybody.
TICKET_SECONDS = 120.0


@dataclass(frozen=True)
class Turn:
    """Where an attempt stands in the line."""

    needed: int
    free: int
    devices: Devices
    before: tuple[str, ...]

    @property
    def is_due(self) -> bool:
        """Whether it may start now: it is the first, and there is room, or nothing else runs."""
        is_alone = self.free == self.devices.num and self.devices.can_ever_hold(self.needed)
        return not self.before and (self.needed <= self.free or is_alone)

    @property
    def reason(self) -> str:
        """Say what it waits for."""
        if self.is_due:
            return "It is its turn on this machine."
        total = self.devices.num
        text = f"Waiting for devices of this machine: it needs {self.needed}, {self.free} of {total} are free."
        if not self.before:
            return text
        num = len(self.before)
        return f"{text} {num} {'attempt is' if num == 1 else 'attempts are'} before it."


class Line:
    """The line of one folder of attempts."""

    def __init__(self, root: Path, devices: Callable[[], Devices]) -> None:
        self._root, self._devices = root, devices
        self._waiting, self._held = root / ".line" / "waiting", root / ".line" / "held"

    def enter(self, name: str, needed: int, asked_at: float = 0.0) -> tuple[str, ...] | None:
        """Take devices, or a ticket; called by whoever holds the lock of the attempt's folder.

        Args:
            name: Of the attempt.
            needed: Devices.
            asked_at: When it was asked for, in seconds since the epoch; 0: now.

        Returns:
            The ids of its GPUs, none where processors are shared; None where it has to wait.
        """
        with self._decided():
            if self._ticket(name) is None:
                place = int((asked_at or time.time()) * 1e6)
                (self._waiting / f"{place:020d}.{needed}.{name}").touch()
            turn = self.turn(name)
            if turn is None or not turn.is_due:
                return None
            ids = self._free_ids(name)[:needed]
            hold = self._held / name
            part = hold.with_name(f".{name}.part")
            part.write_text(json.dumps({"devices": needed, "ids": ids}))
            part.replace(hold)
            return tuple(ids)

    def leave(self, name: str) -> None:
        """Give up waiting; what an attempt holds is free when nothing of it lives."""
        ticket = self._ticket(name)
        if ticket is not None:
            ticket.unlink(missing_ok=True)

    def turn(self, name: str) -> Turn | None:
        """Return where the attempt stands, and remember that somebody asked; None where it does not wait."""
        ticket = self._ticket(name)
        if ticket is None:
            return None
        os.utime(ticket)
        devices, held = self._devices(), self._holds(but=name)
        used = sum(hold["devices"] for hold in held.values())
        waiting = [self._name(one) for one in self._tickets() if one.name < ticket.name]
        before = tuple(one for one in waiting if one not in held)
        needed = int(ticket.name.split(".", 2)[1])
        return Turn(needed, max(0, devices.num - used), devices, before)

    def _ticket(self, name: str) -> Path | None:
        found = self._waiting.glob(f"*.{name}") if self._waiting.exists() else ()
        return next((one for one in found if self._name(one) == name), None)

    def _tickets(self) -> list[Path]:
        """Return the tickets that count; one of an attempt that began, or was closed, is used up."""
        now = time.time()
        return sorted(one for one in self._waiting.iterdir() if self._counts(one, now))

    def _counts(self, ticket: Path, now: float) -> bool:
        folder = Folder(self._root / self._name(ticket))
        try:
            is_asked_for = now - ticket.stat().st_mtime < TICKET_SECONDS
        except FileNotFoundError:
            return False
        return is_asked_for and not folder.is_fenced and folder.wrapper() is None

    def _holds(self, *, but: str) -> dict[str, dict[str, Any]]:
        """Return what others hold; a hold of which nothing lives any more is removed."""
        found: dict[str, dict[str, Any]] = {}
        for hold in sorted(self._held.iterdir()):
            if hold.name == but or hold.name.startswith("."):
                continue
            if sight.look(Folder(self._root / hold.name)).is_gone:
                hold.unlink(missing_ok=True)
                continue
            try:
                found[hold.name] = json.loads(hold.read_bytes())
            except (FileNotFoundError, ValueError):
                continue
        return found

    def _free_ids(self, name: str) -> list[str]:
        taken = {one for hold in self._holds(but=name).values() for one in hold["ids"]}
        return [one for one in self._devices().ids if one not in taken]

    @contextmanager
    def _decided(self) -> Iterator[None]:
        """Decide alone: two that are let in at once would share what neither may share."""
        for folder in (self._waiting, self._held):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._root / ".line" / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @staticmethod
    def _name(ticket: Path) -> str:
        return ticket.name.split(".", 2)[2]
