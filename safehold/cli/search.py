"""`safehold search`."""

from typing import Annotated, Any

import typer

from safehold.cli.cards import OfProject
from safehold.cli.output import AsJson, call, lines, table


def search(
    text: Annotated[
        str, typer.Argument(help="A part of a name, a tag, the beginning of a digest, a number.")
    ],
    project: OfProject = None,
    as_json: AsJson = False,
) -> None:
    """Find runs, cards, configs and checkpoints."""
    call(as_json, lambda client: client.get("search", q=text, project=project), _print_hits)


def _print_hits(answer: dict[str, Any]) -> None:
    if not answer["items"]:
        lines("Nothing matches.")
        return
    table(
        ("kind", "id", "name", "state", "about it", "project"),
        (
            (one["kind"], one["id"], one["name"], one["state"], one["note"], one["project"])
            for one in answer["items"]
        ),
    )
