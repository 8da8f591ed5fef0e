"""`safehold card …`."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safehold.cli import card_print
from safehold.cli.asking import Seen
from safehold.cli.card_print import Number
from safehold.cli.output import AsJson, call
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.reading import read_plain
from safehold.cli.writing import print_written, write_whole

COLUMNS = ("name", "question", "stage")
SUFFIXES = {"json": "json", "markdown": "md"}

app = typer.Typer(no_args_is_help=False)
Project = Annotated[
    str | None, typer.Option(help="Slug of the project; needed where there are several.")
]
OfProject = Annotated[
    str | None, typer.Option("--project", help="Only of this project; of all yours when left out.")
]
Fields = Annotated[
    Path, typer.Argument(metavar="FILE", help="Fields of the card: .toml, .yaml or .json.")
]


@app.command()
def create(file: Fields, project: Project = None, as_json: AsJson = False) -> None:
    """Make a card from a file with name, question, stage and the sections network, data, compute, plan."""
    body = _body(file) | ({"project": project} if project else {})
    call(as_json, lambda client: client.create("cards", body), card_print.card)


@app.command()
def estimate(file: Fields, as_json: AsJson = False) -> None:
    """Reckon what the fields of a file come to; nothing is kept."""
    body = _body(file)
    asked = {"stage": body.get("stage", "pretrain"), "data": body.get("data", {})}
    call(as_json, lambda client: client.post("cards/estimate", asked), card_print.sums)


@app.command("list")
def list_cards(
    project: OfProject = None,
    stage: Annotated[
        str | None, typer.Option(help="pretrain, continued, sft or preference.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="A part of the name.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List the newest cards."""
    filters = {"project": project, "stage": stage, "name": name, "limit": limit, "cursor": cursor}
    call_page(as_json, "cards", card_print.cards, **filters)


@app.command()
def show(card: Number, as_json: AsJson = False) -> None:
    """Show one card with its sums: compute, memory, forecast, advice."""
    call(as_json, lambda client: client.get(f"cards/{card}"), card_print.card)


@app.command()
def change(
    card: Number,
    file: Fields,
    reason: Annotated[str, typer.Option(help="Why; kept in the trail.")] = "",
    seen: Seen = "",
    as_json: AsJson = False,
) -> None:
    """Change the fields that the file names."""
    body = _body(file) | {"reason": reason}
    call(as_json, lambda client: client.change("cards", card, body, version=seen), card_print.card)


@app.command()
def history(
    card: Number, limit: Limit = 200, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """Show every change: who, when, old, new, why."""
    call_page(as_json, f"cards/{card}/changes", card_print.changes, limit=limit, cursor=cursor)


@app.command()
def results(card: Number, as_json: AsJson = False) -> None:
    """Show what the runs of a card reached, metric by metric."""
    call(as_json, lambda client: client.get(f"cards/{card}/results"), card_print.results)


@app.command()
def pilot(
    card: Number,
    kind: Annotated[
        str, typer.Option(help="pilot: 1 % of the data; mix_pilot: about 1e9 parameters.")
    ] = "pilot",
    name: Annotated[str, typer.Option(help="Default: that of the card and the word pilot.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a shrunk card, linked to this one, and its config where this one has a config."""
    body = {"kind": kind, "name": name}
    call(as_json, lambda client: client.create(f"cards/{card}/pilots", body), card_print.pilot)


@app.command()
def mixes(
    card: Number,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A table of shares by name of the mix: .toml, .yaml or .json."),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Rank the mixes of a mix pilot; with a file write a config for each mix in it first."""
    given = read_plain(file) if file else {}

    def act(client: Any) -> dict[str, Any]:
        if given:
            client.create(f"cards/{card}/mixes", {"mixes": given})
        answer: dict[str, Any] = client.get(f"cards/{card}/mixes")
        return answer | {"written": list(given)}

    call(as_json, act, card_print.mixes)


@app.command()
def export(
    card: Number,
    form: Annotated[Literal["json", "markdown"], typer.Option(help="Of the file.")] = "markdown",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a card, its sums, what its runs reached and its trail."""

    def act(client: Any) -> dict[str, Any]:
        parts = client.download(f"cards/{card}/export", form=form)
        if output is not None:
            size = write_whole(output, parts)
            return {"card": card, "form": form, "path": str(output), "size_bytes": size}
        return {"card": card, "form": form, "text": b"".join(parts).decode()}

    call(as_json, act, print_written)


def _body(file: Path) -> dict[str, Any]:
    """Return the columns of a card and, below `data`, its typed sections."""
    given = read_plain(file)
    columns = {name: given.pop(name) for name in COLUMNS if name in given}
    return columns | ({"data": given} if given else {})
