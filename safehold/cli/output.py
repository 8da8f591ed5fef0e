"""What every command prints: one JSON object, or tables for people; and its exit code."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient, ApiError
from safehold.cli.tables import figure, lines, pairs, table
from safehold.findings import Finding

__all__ = [
    "AsJson",
    "CannotRun",
    "call",
    "figure",
    "lines",
    "pairs",
    "print_report",
    "show",
    "show_findings",
    "table",
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

BLOCKED = 1
_SHAPES = {"pass": "✓", "info": "·", "warn": "!", "fail": "✗", "unknown": "?"}
_ORDER = ["fail", "unknown", "warn", "info", "pass"]


class CannotRun(ApiError):
    """A command could not do its work; the message is the line on stderr."""


def show(facts: Mapping[str, Any], as_json: bool, for_people: Callable[[], None]) -> None:
    """Print what a command found, and leave with 1 where its verdict is `fail`."""
    document = {"verdict": "pass", "findings": [], **facts}
    if as_json:
        print(_json(document))
    else:
        for_people()
    if document["verdict"] == "fail":
        raise typer.Exit(BLOCKED)


def _json(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (
        UnicodeEncodeError
    ):  # a terminal of another script, or half a surrogate pair of a file name
        return json.dumps(document, allow_nan=False, default=str)
    return text


def call(
    as_json: bool,
    act: Callable[[ApiClient], dict[str, Any]],
    for_people: Callable[[dict[str, Any]], None],
) -> None:
    """Ask the service; findings that it refuses for are printed, any other refusal is the one line on stderr."""
    try:
        with ApiClient.from_environment() as client:
            answer = act(client)
    except ApiError as error:
        if not (findings := findings_of(error.problem)):
            raise
        show_findings({"verdict": "fail", "findings": findings, "problem": error.problem}, as_json)
        return
    show(answer, as_json, lambda: for_people(answer))


def findings_of(problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the findings of a problem document: those of a check, never faults of a request."""
    try:
        return [Finding.from_dict(one).to_dict() for one in problem.get("findings") or []]
    except (TypeError, ValueError):
        return []


def show_findings(report: Mapping[str, Any], as_json: bool) -> None:
    """Print a verdict with its findings, what blocks first."""
    show(report, as_json, lambda: print_report(report))


def print_report(report: Mapping[str, Any]) -> None:
    """Print a verdict and its findings, what blocks first."""
    print(f"Verdict: {report['verdict'] or report.get('state', 'unknown')}")
    for one in sorted(report["findings"], key=lambda one: _ORDER.index(one["severity"])):
        print(f"{_SHAPES[one['severity']]} {one['severity']:<7} {one['code']}  {one['message']}")
        if one.get("advice"):
            print(f"          {one['advice']}")
