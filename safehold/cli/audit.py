"""`safehold audit …`: who did what, and whether anybody changed that."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient, ApiError
from safehold.cli.output import AsJson, call, lines, show, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.writing import print_written, write_whole

app = typer.Typer(no_args_is_help=False)
_NOT_FOUND = 404
Project = Annotated[
    str | None, typer.Option(help="Short name of a project; else all that you may read.")
]
Actor = Annotated[str, typer.Option(help="A user name.")]
Action = Annotated[str, typer.Option(help="An act, or the noun that acts begin with: member.")]
Object = Annotated[str, typer.Option(metavar="TYPE[:ID]", help="As run:41.")]
Since = Annotated[str | None, typer.Option(help="At or after this time, ISO 8601.")]
Until = Annotated[str | None, typer.Option(help="Before this time.")]


@app.command("list")
def list_entries(
    project: Project = None, actor: Actor = "", action: Action = "", about: Object = "", since: Since = None,
    until: Until = None, limit: Limit = 50, cursor: Cursor = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """List the newest entries of the audit trail."""
    filters = _filters(project, actor, action, about, since, until)
    call_page(as_json, "audit", _print_list, limit=limit, cursor=cursor, **filters)


@app.command()
def export(
    project: Project = None, actor: Actor = "", action: Action = "", about: Object = "", since: Since = None,
    until: Until = None, form: Annotated[str, typer.Option("--format", help="jsonl or csv.")] = "jsonl",
    output: Annotated[Path | None, typer.Option("-o", help="File; standard output when left out.")] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the audit trail to a file, exactly as it is chained."""
    filters = _filters(project, actor, action, about, since, until) | {"format": form}
    with ApiClient.from_environment() as client:
        parts = client.download("audit/export", **filters)
        if output is None and not as_json:
            for part in parts:
                sys.stdout.buffer.write(part)
            return
        target = output or Path(f"audit.{form}")
        written = {"path": str(target), "size_bytes": write_whole(target, parts)}
    show(written, as_json, lambda: print_written(written))


@app.command()
def verify(
    head: Annotated[
        str, typer.Option(help="A digest noted earlier: it must still be in the chain.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Have every digest computed anew; exit 1 where history was changed."""
    call(as_json, lambda client: _verified(client, head), _print_check)


def _verified(client: ApiClient, head: str) -> dict[str, Any]:
    try:
        return client.post("audit/verify", {"head": head})
    except ApiError as error:
        if not head or error.status != _NOT_FOUND or not error.problem:
            raise
        return {"verdict": "fail", "num_faults": 1, "faults": [], "message": str(error)}


def _filters(
    project: str | None, actor: str, action: str, about: str, since: str | None, until: str | None
) -> dict[str, Any]:
    kind, _, number = about.partition(":")
    given = {
        "project": project, "actor": actor, "action": action, "object_type": kind, "object_id": number,
        "since": since, "until": until,
    }  # fmt: skip
    return {key: value for key, value in given.items() if value}


def _print_list(page: dict[str, Any]) -> None:
    rows = (
        (one["id"], one["at"], one["actor"], one["action"], f"{one['object_type']} {one['object_id']}", _words(one["data"]))
        for one in page["items"]
    )  # fmt: skip
    table(("no.", "at", "who", "act", "object", "what"), rows)


def _words(data: dict[str, Any]) -> str:
    told = {key: value for key, value in data.items() if value not in (None, "", [], {})}
    return ", ".join(f"{key} {_word(value)}" for key, value in told.items())


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _print_check(check: dict[str, Any]) -> None:
    lines(*filter(None, [check.get("message")]))
    lines(*(f"✗ entry {entry}: {words}" for entry, words in check["faults"]))
    if not check["num_faults"]:
        lines(f"{check['num_entries']} entries hold together.", f"head {check['head']}")
