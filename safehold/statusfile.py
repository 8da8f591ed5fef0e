"""What a rank tells the process wrapper: a small file beside its record."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

ROOM_BYTES = (
    8192  # the longest of these files, an end with the errors of many ranks, in whole blocks
)

Phase = Literal["finished", "stopped", "paused", "training"]


def write_status(folder: Path, rank: int, phase: Phase) -> None:
    """Say how far a rank has come; `finished` and `stopped` decide the outcome of the attempt.

    Args:
        folder: Of the attempt.
        rank: Whose status it is.
        phase: `stopped` only after everything was saved.
    """
    write_json(status_path(folder, rank), {"phase": phase})


def read_status(folder: Path, rank: int) -> str | None:
    """Return the phase that a rank told last, if any."""
    try:
        data = json.loads(status_path(folder, rank).read_bytes())
    except (OSError, ValueError):
        return None
    return str(data.get("phase")) if isinstance(data, dict) else None


def status_path(folder: Path, rank: int) -> Path:
    """Return the file that a rank's status stands in."""
    return folder / "ranks" / f"{rank}.status.json"


def keep_room(path: Path) -> None:
    """Take room on the disk for a file that is to be written later, also where the disk is full by then."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(_room_of(path), bytes(ROOM_BYTES))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file whole or not at all, on the disk when this returns; a full disk gives the room that was kept.

    Raises:
        OSError: the disk refused.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    content = json.dumps(data, ensure_ascii=False).encode(errors="replace")
    try:
        _write(part, content)
    except OSError:
        room = _room_of(path)
        if not room.exists():
            raise
        room.unlink()
        _write(part, content)
        keep_room(path)
    part.replace(path)


def drop_room(path: Path) -> None:
    """Give back room that nobody needs any more."""
    with contextlib.suppress(OSError):
        _room_of(path).unlink(missing_ok=True)


def _room_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.room")


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # only now has the disk truly given room
