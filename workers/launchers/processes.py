"""Processes of this machine: who one is beyond its number, and which belong to an attempt."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
# Every process below a wrapper inherits this variable; torchrun gives each rank a session of its own,
# so neither session nor group would find them once the wrapper is gone.
MARK = b"SAFEHOLD_DIR="
_DEAD = frozenset({"Z", "X", "x"})


@dataclass(frozen=True)
class Identity:
    """A process, told from a later one with the same number.

    Attributes:
        pid: Its number.
        started: Its start in clock ticks since boot, field 22 of /proc/<pid>/stat.
        boot_id: Of the boot in which it started.
    """

    pid: int
    started: int
    boot_id: str

    @property
    def is_alive(self) -> bool:
        """Whether this very process runs; a zombie does not."""
        return self.boot_id == boot_id() and started_at(self.pid) == self.started


@cache
def boot_id() -> str:
    """Return the id of the current boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


@cache
def machine_id() -> str:
    """Return what tells this machine from others, or an empty text where nothing does."""
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def started_at(pid: int) -> int | None:
    """Return the start of a process in clock ticks, or None where it is gone or a zombie."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in _DEAD else None


def marked(folder: Path) -> set[int]:
    """Return the living processes of the attempt in `folder`, and all that descend from them."""
    mark = MARK + os.fsencode(folder)
    found = {pid for pid, value in _marks() if value == mark}
    return found | _descendants(found) if found else found


def folders_below(root: Path) -> set[Path]:
    """Return the attempt folders below `root` to which a living process belongs."""
    prefix = MARK + os.fsencode(root) + b"/"
    values = {value for _, value in _marks() if value.startswith(prefix)}
    return {Path(os.fsdecode(value[len(MARK) :])) for value in values}


def send(pid: int, how: signal.Signals) -> None:
    """Signal a process that may be gone by now."""
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        pass


def _marks() -> Iterator[tuple[int, bytes]]:
    """Yield the processes that carry the mark, with it; those of other users cannot be read."""
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if MARK not in environment:
            continue
        for pair in environment.split(b"\0"):
            if pair.startswith(MARK) and started_at(int(entry.name)) is not None:
                yield int(entry.name), pair


def _descendants(found: set[int]) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))) and fields[0] not in _DEAD:
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    below: set[int] = set()
    waiting = list(found)
    while waiting:
        new = set(children.get(waiting.pop(), ())) - below
        below |= new
        waiting.extend(new)
    return below


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the state on: a name may hold blanks and brackets."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
