"""What a rank tells the process wrapper: a small file beside its record."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Phase = Literal["finished", "stopped", "paused", "training"]


def write_status(folder: Path, rank: int, phase: Phase) -> None:
    """Say how far a rank has come; `finished` and `stopped` decide the outcome of the attempt.

    Args:
        folder: Of the attempt.
        rank: Whose status it is.
        phase: `stopped` only after everything was saved.
    """
    write_json(folder / "ranks" / f"{rank}.status.json", {"phase": phase})


def read_status(folder: Path, rank: int) -> str | None:
    """Return the phase that a rank told last, if any."""
    try:
        data = json.loads((folder / "ranks" / f"{rank}.status.json").read_bytes())
    except (OSError, ValueError):
        return None
    return str(data.get("phase")) if isinstance(data, dict) else None


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file whole or not at all, on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(json.dumps(data, ensure_ascii=False).encode(errors="replace"))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
