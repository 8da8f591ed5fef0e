"""From records to what the API says of them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from runs import starts
from runs.models import Attempt, Config, Event, PreflightReport, Run, SavedView
from runs.run_table import RunRow, rows_of
from runs.services import base_lines, config_texts, run_labels
from runs.services.changes import between, between_runs
from safehold import config as run_config
from safehold.config import Comparison


def config_shape(config: Config) -> dict[str, Any]:
    """Return a config without its document."""
    shown = (
        "id",
        "name",
        "kind",
        "hash",
        "family_hash",
        "schema_version",
        "created_at",
        "frozen_at",
    )
    return {name: getattr(config, name) for name in shown} | {
        "project": config.project.slug,
        "card": config.card_id,
        "parent": config.parent_id,
        "created_by": config.created_by.username,
        "frozen_by": config.frozen_by.username if config.frozen_by else None,
        "approval": _approval_state(config),
    }


def _approval_state(config: Config) -> str:
    """Return the state of the newest approval; lists bring it along."""
    if hasattr(config, "approval_state"):
        return config.approval_state or ""
    newest = config.approvals.first()
    return newest.state if newest else ""


def config_detail_shape(config: Config) -> dict[str, Any]:
    """Return a config with its document."""
    return config_shape(config) | {
        "document": config.document,
        "toml": run_config.to_toml(config.document),
        "written": config_texts.written_of(config),
        "same_as": config.same_as(),
    }


def diff_shape(a: Config, b: Config) -> dict[str, Any]:
    """Return what changes from `a` to `b`."""
    return _comparison_shape(a, b, between(a, b))


def run_diff_shapes(first: Run, others: Sequence[Run]) -> list[dict[str, Any]]:
    """Return what changes from the first run to each other one: configs and base checkpoints."""
    based_on = base_lines.of_runs([first, *others])
    return [
        _comparison_shape(first.config, run.config, between_runs(first, run, based_on))
        for run in others
    ]


def _comparison_shape(a: Config, b: Config, found: Comparison) -> dict[str, Any]:
    changes = [
        asdict(one) | {"growth": one.growth, "note": found.notes.get(one.path, "")}
        for one in found.changes
    ]
    plain = ("num_factors", "more_than_one", "verdict")
    return {"a": a.pk, "b": b.pk, "changes": changes, "factors": [asdict(one) for one in found.factors]} | {
        name: getattr(found, name) for name in plain
    }  # fmt: skip


def run_shapes(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Return runs for a list, with one query for all newest attempts."""
    return [row_shape(row) for row in rows_of(runs)]


def run_shape(run: Run) -> dict[str, Any]:
    """Return one run with its attempts."""
    attempts = list(run.attempts.order_by("-number"))
    row = RunRow(run, attempts[0] if attempts else None)
    told = [_attempt_shape(attempt) for attempt in attempts]
    return row_shape(row) | {
        "notes": run.notes,
        "version": run_labels.version_of(run),
        "attempts": told,
    }


def event_shape(event: Event) -> dict[str, Any]:
    """Return one line of the timeline."""
    return {
        "id": event.pk,
        "at": event.at,
        "kind": event.kind,
        "message": event.message,
        "attempt": event.attempt.number if event.attempt else None,
        "user": event.user.username if event.user else None,
        "data": event.data,
    }


def report_shape(report: PreflightReport) -> dict[str, Any]:
    """Return a preflight report."""
    shown = (
        "id",
        "config_hash",
        "state",
        "verdict",
        "findings",
        "progress",
        "only",
        "error",
        "requested_at",
        "ended_at",
    )
    return {name: getattr(report, name) for name in shown} | {"config": report.config_id}


def view_shape(view: SavedView) -> dict[str, Any]:
    """Return a saved view."""
    plain = ("id", "name", "query", "is_shared", "created_at")
    return {name: getattr(view, name) for name in plain} | {
        "project": view.project.slug,
        "owner": view.user.username,
    }


def row_shape(row: RunRow) -> dict[str, Any]:
    """Return one line of a list of runs."""
    run, shown = row.run, row.shown
    plain = ("id", "name", "desired", "step", "total_steps", "tokens", "checkpoint_step", "checkpoint_state",
             "launcher", "num_devices", "group", "tags", "archived_at", "delete_after", "deleted_at",
             "created_at")  # fmt: skip
    return {name: getattr(run, name) for name in plain} | {
        "project": run.project.slug,
        "state": shown.word,
        "since": shown.since,
        "why": shown.why,
        "acts": sorted(shown.acts),
        "loss": number(run.last_loss),
        "tokens_per_second": number(row.tokens_per_second),
        "config": run.config_id,
        "config_hash": run.config.hash,
        "card": run.card_id,
        "parent": run.parent_id,
        "from_checkpoint": run.forked_from_checkpoint
        or starts.base_of(run.start_checkpoint)
        or None,
        "takes": starts.takes(run.start_checkpoint) or None,
        "created_by": run.created_by.username,
    }


def _attempt_shape(attempt: Attempt) -> dict[str, Any]:
    shown = ("number", "state", "outcome", "reason", "where", "start_step", "step", "requested_at", "started_at",
             "ended_at", "last_seen_at", "contact_lost_since")  # fmt: skip
    origin = attempt.start_checkpoint or {}
    return {name: getattr(attempt, name) for name in shown} | {
        "from_checkpoint": origin.get("id"),
        "takes": starts.takes(origin) or None,
    }


def number(value: float | None) -> float | str | None:
    """Return a number that JSON can hold; what is not finite is named by its word."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
