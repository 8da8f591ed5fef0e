"""A preflight report as its page shows it: what blocks first, then warnings, the passed ones last."""

from typing import Any

from runs.models import PreflightReport

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


def blocking(report: PreflightReport) -> list[dict[str, Any]]:
    """Return the findings that stand against a launch."""
    return [finding for finding in report.findings if finding.get("severity") == "fail"]
