"""What the wrapper needs of Linux: death signals, adoption of orphans, identity of processes."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int = 0) -> None:
    """Have the kernel kill this process when its parent dies.

    Args:
        parent: Process id that the parent had; where it is another by now, it died already.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies, as PID 1 is."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def started(pid: int) -> str:
    """Return what tells this process from a later one with the same id: start time and boot.

    Raises:
        FileNotFoundError: there is no such process.
    """
    ticks = _stat(pid)[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{int(ticks)}@{boot}"


def descendants(root: int) -> list[int]:
    """Return the process ids below a process, zombies left out."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = _stat(int(path.name))
            except (OSError, IndexError):
                continue
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(path.name))
    found: list[int] = []
    left = [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on; the name before may hold anything."""
    text = Path(f"/proc/{pid}/stat").read_text()
    return text[text.rindex(")") + 2 :].split()
