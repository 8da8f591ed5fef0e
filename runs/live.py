"""Telling open pages that something happened: a hint, lossy by design; the database is the truth.

A caller only puts a note down and goes on. One thread a process sends what was noted, at most twenty bundles a
second and run, so that a burst of messages becomes a few, and a broker that hangs holds nobody up.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runs.broadcast import broadcaster
from runs.bundles import Note, records_of
from safehold.wire import Batch

RUN_BUNDLES_PER_SECOND = 20
# A page that lacks one of them draws all anew, so it need not hear of every one.
MAX_NEW_NAMES = 200
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
    note = Note("metrics", records_of(attempt, new, payload))
    broadcaster.put(run_group(run_id), "run.bundle", note, 1 / RUN_BUNDLES_PER_SECOND)


def publish_names(run_id: int, names: Collection[str]) -> None:
    """Tell the open pages of a run which metrics are perhaps new, so that they make room for them."""
    publish(run_id, "names", {"names": sorted(names)[:MAX_NEW_NAMES]})


def publish_row(project_id: int, run_id: int, row: dict[str, Any]) -> None:
    """Tell the open lists of a project what changed in the row of a run; never raises, never waits."""
    if row:
        note = Note("rows", (run_id, row))
        broadcaster.put(
            project_group(project_id), "project.bundle", note, 1 / ROW_BUNDLES_PER_SECOND
        )
