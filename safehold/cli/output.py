"""What every command prints: one JSON object, or tables for people; and its exit code."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from safehold.api_client import ApiClient, ApiError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

BLOCKED = 1
_SHAPES = {"pass": "✓", "info": "·", "warn": "!", "fail": "✗", "unknown": "?"}


class CannotRun(ApiError):
    """A command could not do its work; the message is the line on stderr."""


def show(facts: Mapping[str, Any], as_json: bool, for_people: Callable[[], None]) -> None:
    """Print what a command found, and leave with 1 where its verdict is `fail`."""
    document = {"verdict": "pass", "findings": [], **facts}
    if as_json:
        print(json.dumps(document, ensure_ascii=False, allow_nan=False, default=str))
    else:
        for_people()
    if document["verdict"] == "fail":
        raise typer.Exit(BLOCKED)


def call(
    as_json: bool,
    act: Callable[[ApiClient], dict[str, Any]],
    for_people: Callable[[dict[str, Any]], None],
) -> None:
    """Ask the service; what it refuses for the content's sake becomes findings, anything else exit 2."""
    try:
        with ApiClient.from_environment() as client:
            answer = act(client)
    except ApiError as error:
        findings = findings_of(error.problem)
        if error.status != 422 or not findings:
            raise
        show_findings({"verdict": "fail", "findings": findings, "problem": error.problem}, as_json)
        return
    show(answer, as_json, lambda: for_people(answer))


def findings_of(problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a problem document as findings: those of preflight, else one for each field."""
    if found := problem.get("findings"):
        return [one for one in found if isinstance(one, dict)]
    return [
        {
            "code": "CONF-3.config_fields",
            "severity": "fail",
            "message": f"{one.get('field') or 'document'}: {one.get('message')}",
            "evidence": {key: one[key] for key in ("field", "line") if one.get(key)},
            "advice": one.get("hint", ""),
        }
        for one in problem.get("errors", [])
    ]


def show_findings(report: Mapping[str, Any], as_json: bool) -> None:
    """Print a verdict with its findings, what blocks first."""
    show(report, as_json, lambda: print_report(report))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below each other."""
    drawn = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text("" if value is None else str(value)) for value in row))
    console().print(drawn)


def figure(value: object) -> object:
    """Return a measured number with four digits, as people read it; anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else value


def pairs(values: Mapping[str, object]) -> None:
    """Print names and values."""
    table(("", ""), values.items())


def lines(*texts: str) -> None:
    """Print plain lines."""
    for text in texts:
        print(text)


def console() -> Console:
    """Return the console; piped output is never cut to a width."""
    found = Console(highlight=False, markup=False)
    return found if found.is_terminal else Console(highlight=False, markup=False, width=200)


def print_report(report: Mapping[str, Any]) -> None:
    """Print a verdict and its findings, what blocks first."""
    print(f"Verdict: {report['verdict'] or report.get('state', 'unknown')}")
    order = ["fail", "unknown", "warn", "info", "pass"]
    for one in sorted(report["findings"], key=lambda finding: order.index(finding["severity"])):
        print(f"{_SHAPES[one['severity']]} {one['severity']:<7} {one['code']}  {one['message']}")
        if one.get("advice"):
            print(f"          {one['advice']}")
