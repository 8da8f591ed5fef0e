"""`safehold card …`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.cli.output import AsJson, call, pairs, table
from safehold.cli.reading import read_plain

COLUMNS = ("name", "question", "stage")

app = typer.Typer(no_args_is_help=False)
Number = Annotated[int, typer.Argument(metavar="CARD", help="Id of the card.")]
Project = Annotated[
    str | None, typer.Option(help="Slug of the project; needed where there are several.")
]
Fields = Annotated[
    Path, typer.Argument(metavar="FILE", help="Fields of the card: .toml, .yaml or .json.")
]


@app.command()
def create(file: Fields, project: Project = None, as_json: AsJson = False) -> None:
    """Make a card from a file with name, question, stage and the sections network, data, compute."""
    body = _body(file) | ({"project": project} if project else {})
    call(as_json, lambda client: client.create("cards", body), _print_card)


@app.command("list")
def list_cards(project: Project = None, limit: int = 50, as_json: AsJson = False) -> None:
    """List the newest cards."""
    call(as_json, lambda client: client.page("cards", project=project, limit=limit), _print_cards)


@app.command()
def show(card: Number, as_json: AsJson = False) -> None:
    """Show one card with its sums."""
    call(as_json, lambda client: client.get(f"cards/{card}"), _print_card)


@app.command()
def change(
    card: Number,
    file: Fields,
    reason: Annotated[str, typer.Option(help="Why; kept in the trail.")] = "",
    as_json: AsJson = False,
) -> None:
    """Change the fields that the file names."""
    body = _body(file) | {"reason": reason}
    call(as_json, lambda client: client.change("cards", card, body), _print_card)


@app.command()
def history(card: Number, as_json: AsJson = False) -> None:
    """Show every change: who, when, old, new, why."""
    call(as_json, lambda client: client.get(f"cards/{card}/changes"), _print_changes)


def _body(file: Path) -> dict[str, Any]:
    """Return the columns of a card and, below `data`, its typed sections."""
    given = read_plain(file)
    columns = {name: given.pop(name) for name in COLUMNS if name in given}
    return columns | ({"data": given} if given else {})


def _print_cards(page: dict[str, Any]) -> None:
    table(
        ("id", "name", "stage", "owner"),
        ((one["id"], one["name"], one["stage"], one["owner"]) for one in page["items"]),
    )


def _print_card(card: dict[str, Any]) -> None:
    shown = {key: card[key] for key in ("id", "name", "stage", "question", "owner")}
    sums = card.get("estimate") or {}
    if sums.get("device_days") is not None:
        shown["device-days"] = f"{sums['device_days']:.3g}"
        shown["wall days"] = (
            f"{sums['wall_days']:.3g} ({sums['wall_days_low']:.3g} to {sums['wall_days_high']:.3g})"
        )
    pairs(shown)


def _print_changes(page: dict[str, Any]) -> None:
    table(
        ("at", "who", "field", "old", "new", "why"),
        (
            (one["at"], one["user"], one["field"], one["old"], one["new"], one["reason"])
            for one in page["items"]
        ),
    )
