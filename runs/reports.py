"""A preflight report as its page shows it: what blocks first, then warnings, the passed ones last."""

from typing import Any

from runs.models import PreflightReport, Run
from runs.services import launch_gate

_ORDER = ("fail", "unknown", "warn", "info")


def context(report: PreflightReport) -> dict[str, Any]:
    """Return the findings by weight, and whether the checks still run."""
    findings = list(report.findings)
    open_ones = [f for severity in _ORDER for f in findings if f.get("severity") == severity]
    passed = [f for f in findings if f.get("severity") == "pass"]
    counts = {
        severity: sum(f.get("severity") == severity for f in findings)
        for severity in (*_ORDER, "pass")
    }
    is_over = report.state in {PreflightReport.State.DONE, PreflightReport.State.FAILED}
    return {
        "report": report, "config": report.config, "open_findings": open_ones, "passed": passed, "counts": counts,
        "is_over": is_over, "is_stale": report.config_hash != report.config.hash,
    }  # fmt: skip


def waivable(run: Run) -> dict[str, Any] | None:
    """Return what a person may waive for a run of an experiment, as the newest report has it; None: nothing."""
    if run.config.is_production:
        return None
    report = launch_gate.newest_whole(run.config)
    if report is None or report.verdict != "fail":
        return None
    return {"report": report, "findings": blocking(report)}


def blocking(report: PreflightReport) -> list[dict[str, Any]]:
    """Return the findings that stand against a launch."""
    return [finding for finding in report.findings if finding.get("severity") == "fail"]
