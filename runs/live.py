"""Telling open pages that something happened: a hint, lossy by design; the database is the truth."""

import logging
from typing import Any

logger = logging.getLogger(__name__)


def run_group(run_id: int) -> str:
    """Return the channel group of the pages that show a run."""
    return f"run.{run_id}"


def project_group(project_id: int) -> str:
    """Return the channel group of the lists of a project."""
    return f"project.{project_id}"


def publish(run_id: int, kind: str, payload: dict[str, Any]) -> None:
    """Tell the open pages of a run; never raises, never waits."""


def publish_row(project_id: int, run_id: int, row: dict[str, Any]) -> None:
    """Tell the open lists of a project what changed in the row of a run; never raises, never waits."""
