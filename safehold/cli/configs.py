"""`safehold config …`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli import approvals
from safehold.cli.cards import OfProject, Project
from safehold.cli.output import AsJson, call, lines, pairs, print_report, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.reading import read_written
from safehold.cli.waiting import Wait, until_verdict
from safehold.cli.writing import print_written, write_whole

app = typer.Typer(no_args_is_help=False)
for _command in (
    approvals.request, approvals.approve, approvals.reject, approvals.withdraw, approvals.approvals,
):  # fmt: skip
    app.command(_command.__name__)(_command)
Number = Annotated[int, typer.Argument(metavar="CONFIG", help="Id of the config.")]


@app.command()
def create(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The config: .toml, .yaml or .json.")
    ],
    card: Annotated[int | None, typer.Option(help="Id of its card.")] = None,
    parent: Annotated[int | None, typer.Option(help="Id of the config it follows.")] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Store a config; what cannot work is refused by field."""
    given = read_written(file) | {"card": card, "parent": parent, "project": project}
    body = {key: value for key, value in given.items() if value is not None}
    call(as_json, lambda client: client.create("configs", body), _print_made)


@app.command("list")
def list_configs(
    project: OfProject = None, limit: Limit = 50, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List the newest configs."""
    call_page(as_json, "configs", _print_configs, project=project, limit=limit, cursor=cursor)


@app.command()
def show(config: Number, as_json: AsJson = False) -> None:
    """Show one config as TOML."""
    call(
        as_json,
        lambda client: client.get(f"configs/{config}"),
        lambda one: lines(one["toml"].rstrip()),
    )


@app.command()
def export(
    config: Number,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write one config as TOML."""

    def act(client: ApiClient) -> dict[str, Any]:
        one = client.get(f"configs/{config}")
        if output is None:
            return one | {"text": one["toml"]}
        size = write_whole(output, [one["toml"].encode()])
        return one | {"path": str(output), "size_bytes": size}

    call(as_json, act, print_written)


@app.command()
def diff(
    config: Number,
    other: Annotated[int, typer.Argument(help="Id of another.")],
    as_json: AsJson = False,
) -> None:
    """Show what differs from another config."""
    call(
        as_json,
        lambda client: differences(client.get(f"configs/{config}/diff", other=other)),
        print_changes,
    )


@app.command()
def freeze(config: Number, as_json: AsJson = False) -> None:
    """Freeze a config; it can then only be followed by another."""
    call(as_json, lambda client: client.act("configs", config, "freeze"), _print_config)


@app.command()
def preflight(
    config: Number,
    only: Annotated[str, typer.Option(help="Groups or codes, with commas.")] = "",
    wait: Wait = 60,
    as_json: AsJson = False,
) -> None:
    """Have the service run the checks of a config, and show the report."""
    names = [word for word in only.split(",") if word]
    call(as_json, lambda client: _checked(client, config, names, wait), print_report)


def differences(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose sentence does not stand where a verdict does."""
    return {key: value for key, value in answer.items() if key != "verdict"} | {
        "conclusion": answer["verdict"]
    }


def print_changes(answer: dict[str, Any]) -> None:
    """Print the changes between two configs."""
    if not answer["changes"]:
        lines("Nothing differs.")
        return
    table(
        ("field", "old", "new", "unit", "counts as"),
        (
            (one["path"], one["old"], one["new"], one["unit"], one["note"] or "a variable")
            for one in answer["changes"]
        ),
    )
    told = answer["conclusion"]
    lines(f"{told[:1].upper()}{told[1:]}.")


def _checked(client: ApiClient, config: int, only: list[str], wait: float) -> dict[str, Any]:
    asked = client.act("configs", config, "preflight", {"only": only})["id"]
    return until_verdict(
        lambda: client.get(f"preflights/{asked}"),
        wait,
        f"Preflight report {asked} on config {config}",
    )


def _print_configs(page: dict[str, Any]) -> None:
    rows = (
        (one["id"], one["name"], one["kind"], one["approval"], one["hash"][:15])
        for one in page["items"]
    )
    table(("id", "name", "kind", "approval", "hash"), rows)


def _print_config(config: dict[str, Any]) -> None:
    pairs({key: config[key] for key in ("id", "name", "kind", "hash", "frozen_at", "approval")})


def _print_made(config: dict[str, Any]) -> None:
    _print_config(config)
    if config.get("same_as"):
        lines(f"Config {config['same_as']} has the same document.")
