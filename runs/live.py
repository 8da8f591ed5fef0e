"""Telling open pages that something happened: a hint, lossy by design; the database is the truth.

A caller only puts a note down and goes on. One thread a process sends what was noted, at most twenty bundles a
second and run, so that a burst of messages becomes a few, and a broker that hangs holds nobody up.
"""

from __future__ import annotations

from typing import Any

from runs.broadcast import broadcaster
from runs.bundles import MAX_BODY_BYTES, Note, without_records
from safehold.wire import Batch

RUN_BUNDLES_PER_SECOND = 20
ROW_BUNDLES_PER_SECOND = 2


def run_group(run_id: int) -> str:
    """Return the channel group of the pages that show a run."""
    return f"run.{run_id}"


def project_group(project_id: int) -> str:
    """Return the channel group of the lists of a project."""
    return f"project.{project_id}"


def publish(run_id: int, kind: str, payload: dict[str, Any]) -> None:
    """Tell the open pages of a run; never raises, never waits.

    Args:
        run_id: The run.
        kind: `state`, `event`, `log` or `checkpoint`.
        payload: Plain values, small; docs/reference/metrics-json.md lists them.
    """
    note = Note(kind, payload)
    broadcaster.put(run_group(run_id), "run.bundle", note, 1 / RUN_BUNDLES_PER_SECOND)


def publish_batch(run_id: int, attempt: int, new: Batch, payload: bytes | None = None) -> None:
    """Tell the open pages of new records; a batch without records tells the journal's mark.

    Args:
        run_id: The run.
        attempt: Number of the attempt.
        new: What was stored.
        payload: Its packed form where at hand; otherwise it is packed when it is sent.
    """
    if new.num_points * 8 > MAX_BODY_BYTES:
        new, payload = without_records(new), None
    note = Note("metrics", (attempt, new, payload))
    broadcaster.put(run_group(run_id), "run.bundle", note, 1 / RUN_BUNDLES_PER_SECOND)


def publish_row(project_id: int, run_id: int, row: dict[str, Any]) -> None:
    """Tell the open lists of a project what changed in the row of a run; never raises, never waits."""
    if row:
        note = Note("rows", (run_id, row))
        broadcaster.put(
            project_group(project_id), "project.bundle", note, 1 / ROW_BUNDLES_PER_SECOND
        )
