"""What a run is held against and can expect: its card's acceptance, its start, the time that is left (PLAN-5)."""

from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import fmean, median
from typing import Any

from django.utils import timezone

from runs import cluster_history, evaluations, results, starts
from runs.card_export import result_document
from runs.estimate_documents import finite
from runs.ingest.facts import LOSS_NAMES
from runs.metricstore.reading import gather
from runs.metricstore.window import Range
from runs.models import Attempt, Run
from runs.services import base_lines, rulebook
from safehold.planning import judge_start, read_kept, starting_loss
from safehold.planning.failures import DEFAULT_RESTART_SECONDS
from safehold.planning.forecast import ClusterHistory, forecast
from safehold.planning.network import StartVerdict
from safehold.planning.reforecast import Progress, Reforecast, reforecast

_STEP_TIME = "time/step_seconds"
_NEWEST_STEPS = 1000  # enough for a steady mean, new enough to follow a change of speed


@dataclass(frozen=True)
class StartOfRun:
    """The first loss held against ln(vocabulary)."""

    loss: float
    step: int
    expected: float
    verdict: StartVerdict


def context(run: Run) -> dict[str, Any]:
    """Return what the page of a run shows of it."""
    return {
        "result": results.result_of(run),
        "reforecast": forecast_of(run),
        "start_of_run": start_of(run),
        "missed_base": missed_base(run),
        "base": base_of(run),
    }


def document_of(run: Run) -> dict[str, Any]:
    """Return the same as JSON values."""
    result, found, start = results.result_of(run), forecast_of(run), start_of(run)
    return {
        "run": run.pk,
        "acceptance": result_document(result) if result else None,
        "forecast": finite(_document(found)) if found else None,
        "start": asdict(start) if start else None,
        "missed_base": missed_base(run),
    }


def forecast_of(run: Run, now: datetime | None = None) -> Reforecast | None:
    """Return the forecast of a run that has done steps, from what it and its cluster have shown."""
    progress = _progress(run, now or timezone.now())
    if progress is None:
        return None
    history = cluster_history.history_of(run.launcher) or ClusterHistory()
    card = read_kept(run.card.data) if run.card else None
    stated = card.plan if card else None
    planned = forecast(card, history) if card else None
    return reforecast(
        progress,
        rate=planned.rate if planned else history.rate,
        restart_seconds=planned.restart_seconds if planned else history.restart_seconds or DEFAULT_RESTART_SECONDS,
        save_seconds=history.save_seconds or (stated.save_seconds if stated else 0),
        planned_days=planned.wall_days if planned else None,
    )  # fmt: skip


def base_of(run: Run) -> dict[str, Any] | None:
    """Return the checkpoint whose weights the run began with, or will begin with as its card says; `is_taken` which."""
    if starts.base_of(run.start_checkpoint):
        return dict(run.start_checkpoint) | {"is_taken": True}
    planned = 0 if run.start_checkpoint or run.attempts.exists() else base_lines.of_card(run.card)
    return {"id": planned, "is_taken": False} if planned else None


def missed_base(run: Run) -> int | None:
    """Return the base checkpoint of the card where a run that was launched did not begin from it; a fork need not."""
    if run.parent_id or not run.attempts.exists():
        return None
    base = base_lines.of_card(run.card)
    return base if base and (run.start_checkpoint or {}).get("id") != base else None


def start_of(run: Run) -> StartOfRun | None:
    """Return how a training from scratch began; later stages begin below ln(vocabulary) by right."""
    document = run.config.document
    vocabulary = (document.get("network") or {}).get("vocabulary") or 0
    if document.get("stage", "pretrain") != "pretrain" or vocabulary < 2:
        return None
    measured = evaluations.first(run, LOSS_NAMES)
    if measured is None:
        return None
    span = rulebook.in_force(run.project_id).rule("starting_loss.first")
    verdict = judge_start(measured.value, vocabulary, span.low, span.high)
    return StartOfRun(measured.value, measured.step, starting_loss(vocabulary), verdict)


def _progress(run: Run, now: datetime) -> Progress | None:
    attempts = list(run.attempts.order_by("number"))
    begun = [one for one in attempts if one.started_at]
    step_times = _step_times(run, attempts)
    if not (begun and step_times and run.total_steps and run.step is not None):
        return None
    newest = attempts[-1]
    until = newest.ended_at or now
    document = run.config.document
    return Progress(
        steps=run.total_steps, done_steps=run.step, step_seconds=median(step_times), mean_step_seconds=fmean(step_times),
        wall_seconds=(until - begun[0].started_at).total_seconds(),  # type: ignore[operator]
        available_seconds=(until - attempts[0].requested_at).total_seconds(),
        nodes=(document.get("compute") or {}).get("nodes") or 1,
        first_step=starts.first_step(run.start_checkpoint),
        anchor_every_steps=(document.get("checkpoint") or {}).get("anchor_every_steps") or 0,
    )  # fmt: skip


def _step_times(run: Run, attempts: list[Attempt]) -> list[float]:
    within = Range(x="step", start=max(0, (run.step or 0) - _NEWEST_STEPS))
    found = gather([one.pk for one in attempts], [_STEP_TIME], within, 100 * _NEWEST_STEPS)
    newest = [one.points for one in found.values() if one.points is not None]
    values = [float(value) for points in newest for value in points.values]
    return [value for value in values if 0 < value < float("inf")]


def _document(found: Reforecast) -> dict[str, Any]:
    return {
        "steps": found.progress.steps,
        "done_steps": found.progress.done_steps,
        "step_seconds": found.progress.step_seconds,
        "mean_step_seconds": found.progress.mean_step_seconds,
        "ettr_job_wall_clock": found.useful.job_wall_clock,
        "ettr_availability": found.useful.availability,
        "ettr_effective_training_time": found.useful.effective_training_time,
        "expected_ettr": found.expected,
        "left_seconds": found.left_seconds,
        "wall_days": found.wall_days,
        "planned_days": found.planned_days,
        "deviation": found.deviation,
        "failures_per_1000_node_days": found.rate.per_node_day * 1000,
        "rate_source": found.rate.source,
        "restart_seconds": found.restart_seconds,
        "save_seconds": found.save_seconds,
        "intervals": [asdict(one) | {"total_share": one.total_share} for one in found.choices],
        "derived": asdict(found.derived),
    }
