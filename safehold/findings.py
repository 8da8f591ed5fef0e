"""What a check says: one form for preflight, verification, rules and diagnosis.

Standard library only, because the library, the worker and the server all read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Severity = Literal["pass", "info", "warn", "fail", "unknown"]
Verdict = Literal["pass", "warn", "fail"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of one check.

    Attributes:
        code: `<requirement id>.<slug>`, stable; empty until the registry that ran the check sets it.
        severity: `unknown` means that a fact was missing, so the check could not judge.
        message: One sentence that a person can act on.
        evidence: Numbers, places and examples; only what JSON can hold.
        advice: What to do about it; empty where there is nothing to do.
    """

    code: str
    severity: Severity
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as the map that the command line and the API show."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "evidence": dict(self.evidence),
            "advice": self.advice,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """Read what `to_dict` wrote.

        Raises:
            ValueError: a field is missing or the severity is not one of ours.
        """
        missing = [name for name in ("code", "severity", "message") if name not in data]
        if missing:
            raise ValueError(f"A finding needs {', '.join(missing)}; got {sorted(data)}.")
        if data["severity"] not in SEVERITIES:
            raise ValueError(
                f"severity is {data['severity']!r}; it must be one of {', '.join(SEVERITIES)}."
            )
        return cls(
            code=str(data["code"]),
            severity=data["severity"],
            message=str(data["message"]),
            evidence=dict(data.get("evidence") or {}),
            advice=str(data.get("advice") or ""),
        )


def passed(
    message: str, *, code: str = "", evidence: Mapping[str, Any] | None = None, advice: str = ""
) -> Finding:
    """Say that a check found nothing wrong, and what it looked at."""
    return Finding(code, "pass", message, dict(evidence or {}), advice)


def info(
    message: str, *, code: str = "", evidence: Mapping[str, Any] | None = None, advice: str = ""
) -> Finding:
    """Say something worth knowing that changes no verdict."""
    return Finding(code, "info", message, dict(evidence or {}), advice)


def warn(
    message: str, *, code: str = "", evidence: Mapping[str, Any] | None = None, advice: str = ""
) -> Finding:
    """Say something that a person should look at before going on."""
    return Finding(code, "warn", message, dict(evidence or {}), advice)


def fail(
    message: str, *, code: str = "", evidence: Mapping[str, Any] | None = None, advice: str = ""
) -> Finding:
    """Say something that must be put right first."""
    return Finding(code, "fail", message, dict(evidence or {}), advice)


def unknown(
    message: str, *, code: str = "", evidence: Mapping[str, Any] | None = None, advice: str = ""
) -> Finding:
    """Say that a fact was missing, so that nothing passes in silence."""
    return Finding(code, "unknown", message, dict(evidence or {}), advice)


def verdict(findings: Iterable[Finding], *, production: bool = False) -> Verdict:
    """Return the worst of the findings as one word.

    Args:
        findings: Any order; none at all passes.
        production: A missing fact blocks a production run and only warns an experiment.
    """
    severities = {finding.severity for finding in findings}
    if "fail" in severities or (production and "unknown" in severities):
        return "fail"
    if severities & {"warn", "unknown"}:
        return "warn"
    return "pass"
