"""What a run is held against, and what is left of it."""

from typing import Any

from safehold.cli.card_print import results
from safehold.cli.output import AsJson, call, lines, pairs
from safehold.cli.run_acts import Number
from safehold.cli.tables import duration


def forecast(run: Number, as_json: AsJson = False) -> None:
    """Show acceptance metric by metric, how the run began, useful time so far and what is left."""
    call(as_json, lambda client: client.get(f"runs/{run}/forecast"), _print)


def _print(answer: dict[str, Any]) -> None:
    if answer["acceptance"]:
        results({"items": [answer["acceptance"]]})
    if start := answer["start"]:
        told = f"Loss {start['loss']:.3g} at step {start['step']}, ln(V) is {start['expected']:.3g}"
        lines(f"{told}: {start['verdict']}.")
    if answer["forecast"]:
        pairs(_words(answer["forecast"]))
    else:
        lines("No step was timed yet: there is nothing to forecast from.")


def _words(found: dict[str, Any]) -> dict[str, str]:
    names = ("ettr_job_wall_clock", "ettr_availability", "ettr_effective_training_time")
    wall, available, effective = (f"{found[name]:.3f}" for name in names)
    words = {
        "step": f"{found['done_steps']:,} of {found['steps']:,}, {found['step_seconds']:.3g} s each",
        "left": _left(found["left_seconds"]),
        "whole run": duration(found["wall_days"]),
        "ETTR so far": f"{wall} job wall clock, {available} availability, {effective} effective training time",
        "ETTR from here": f"{found['expected_ettr']:.3f} ({found['rate_source']} failure rate)",
        "anchors": f"every {found['derived']['anchor_every_steps']:,} steps advised",
    }
    if found["planned_days"]:
        words["whole run"] += f", {found['deviation']:+.0%} against the card"
    return words


def _left(seconds: float | None) -> str:
    return "never at this rate of failures" if seconds is None else duration(seconds / 86_400)
