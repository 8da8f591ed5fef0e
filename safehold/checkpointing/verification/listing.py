"""What lies below a folder, told without following a link and without end."""

from __future__ import annotations

import os
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from safehold.checkpointing.formats import dcp
from safehold.manifest import FILE_NAME

# A checkpoint has a few hundred files; a folder that is none may be anything, a home or a whole disk.
MOST_OF_CHECKPOINT = 1_000_000
MOST_OF_OTHER = 20_000
# What is shown to people of a long list.
MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries below a folder, nearest first, by relative path.

    Attributes:
        files: Regular files.
        links: Links, devices, sockets, pipes.
        closed: Folders that cannot be opened.
        checkpoints: Folders below that look like checkpoints.
        is_cut: There is more than was looked at.
    """

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def suffixes(self) -> dict[str, int]:
        """Return how many files there are of each suffix, the most first."""
        counted = Counter(PurePosixPath(name).suffix or "no suffix" for name in self.files)
        return dict(counted.most_common(5))


@dataclass(slots=True)
class _Found:
    files: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    left: deque[str] = field(default_factory=lambda: deque([""]))
    is_cut: bool = False

    @property
    def num(self) -> int:
        return len(self.files) + len(self.links) + len(self.left)


def list_below(folder: Path, most: int) -> Listing:
    """Return at most about `most` entries below a folder."""
    found = _Found()
    while found.left and not found.is_cut:
        _look(folder, found.left.popleft(), found, most)
    places = {str(PurePosixPath(name).parent) for name in found.files if _is_mark(name)} - {"."}
    return Listing(
        files=tuple(found.files), links=tuple(found.links), closed=tuple(found.closed),
        checkpoints=tuple(sorted(places)), is_cut=found.is_cut,
    )  # fmt: skip


def _look(folder: Path, below: str, found: _Found, most: int) -> None:
    try:
        with os.scandir(folder / below) as entries:
            for entry in entries:
                if found.num >= most:
                    found.is_cut = True
                    break
                _sort_in(entry, f"{below}/{entry.name}" if below else entry.name, found)
    except OSError:
        found.closed.append(below or ".")


def _sort_in(entry: os.DirEntry[str], name: str, found: _Found) -> None:
    if entry.is_dir(follow_symlinks=False):
        found.left.append(name)
    elif entry.is_file(follow_symlinks=False):
        found.files.append(name)
    else:
        found.links.append(name)


def _is_mark(name: str) -> bool:
    return PurePosixPath(name).name in {FILE_NAME, dcp.METADATA}
