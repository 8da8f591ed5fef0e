"""What a run wrote into its journals, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from safehold.journal import Reader, to_batch


def read_run(folder: Path, rank: int = 0) -> dict[int, dict[str, Any]]:
    """Return by step the metrics and the batch ids (`ids`) that a rank recorded."""
    found: dict[int, dict[str, Any]] = {}
    for journal in sorted((folder / "journal").glob(f"rank-{rank:05d}-*")):
        piece = Reader(journal).read(most=10**6, most_bytes=10**9)
        batch = to_batch(rank, journal.name[-32:], piece.first_seq, piece.records)
        steps = np.asarray(batch.steps)
        for column in batch.columns:
            places = range(len(steps)) if column.index is None else column.index
            for place, value in zip(places, column.values, strict=True):
                found.setdefault(int(steps[place]), {})[column.name] = float(value)
        for event in batch.events:
            if event.kind == "batch_ids":
                found[int(steps[event.i])]["ids"] = event.data["ids"]
    return found
