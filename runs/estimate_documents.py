"""Sums of a card as JSON values: what the API, the export and the command line show."""

from dataclasses import asdict
from math import isfinite
from typing import Any

from safehold import planning
from safehold.planning.forecast import Forecast


def memory_document(memory: planning.MemoryLedger) -> dict[str, Any]:
    """Return a ledger with its sums."""
    sums = ("before_activations_bytes", "total_bytes", "peak_bytes", "fit")
    return asdict(memory) | {name: getattr(memory, name) for name in sums}


def forecast_document(found: Forecast) -> dict[str, Any]:
    """Return a forecast as JSON values; the three definitions of useful time have a name each."""
    document = {
        "steps": found.steps,
        "step_seconds": found.step_seconds,
        "wall_days": found.wall_days,
        "ettr_job_wall_clock": found.useful.job_wall_clock,
        "ettr_availability": found.useful.availability,
        "ettr_effective_training_time": found.useful.effective_training_time,
        "expected_failures": found.expected_failures,
        "failures_per_1000_node_days": found.rate.per_node_day * 1000,
        "restart_seconds": found.restart_seconds,
        "save_seconds": found.save_seconds,
        "sources": found.sources,
        "anchor_every_steps": found.advised.steps,
        "intervals": [asdict(one) | {"total_share": one.total_share} for one in found.choices],
        "derived": asdict(found.derived),
    }
    plain: dict[str, Any] = finite(document)
    return plain


def finite(value: Any) -> Any:
    """Return None for what never ends: JSON has no word for it."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
