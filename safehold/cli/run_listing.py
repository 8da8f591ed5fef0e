"""`safehold run list` and `show`: once, or again and again."""

from typing import Annotated, Any

import typer

from safehold.cli.cards import OfProject
from safehold.cli.output import AsJson, call, figure, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.run_acts import Number, print_run
from safehold.cli.watching import Watch, again_and_again

STATES = ["active", "draft", "failed", "finished", "stopped"]
SHELVES = ["archived", "all"]
ORDERS = ["newest", "oldest", "name", "activity", "loss", "step", "state"]
State = Annotated[
    str | None, typer.Option(help=f"{', '.join(STATES)}.", autocompletion=lambda: STATES)
]
Owner = Annotated[str | None, typer.Option(help="User name.")]
Group = Annotated[str | None, typer.Option(help="Of this group.")]
Tag = Annotated[str | None, typer.Option(help="With this tag.")]
Text = Annotated[
    str | None, typer.Option("--text", help="A part of name, card, config, owner or group.")
]
Shelf = Annotated[
    str | None,
    typer.Option(help="archived, or all.", autocompletion=lambda: SHELVES),
]
Order = Annotated[
    str | None, typer.Option(help=f"{', '.join(ORDERS)}.", autocompletion=lambda: ORDERS)
]
_COLUMNS = ("id", "name", "state", "step", "of", "tokens/s", "loss", "checkpoint", "group", "tags")


def list_runs(
    project: OfProject = None,
    state: State = None,
    owner: Owner = None,
    group: Group = None,
    tag: Tag = None,
    text: Text = None,
    shelf: Shelf = None,
    order: Order = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    watch: Watch = None,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first unless another order is asked for."""
    filters = {
        "project": project, "state": state, "owner": owner, "group": group, "tag": tag, "q": text, "shelf": shelf,
        "order": order, "limit": limit, "cursor": cursor,
    }  # fmt: skip
    again_and_again(watch, lambda: call_page(as_json, "runs", _print_runs, **filters))


def show(run: Number, watch: Watch = None, as_json: AsJson = False) -> None:
    """Show one run."""
    again_and_again(
        watch, lambda: call(as_json, lambda client: client.get(f"runs/{run}"), print_run)
    )


def _print_runs(page: dict[str, Any]) -> None:
    table(_COLUMNS, (_cells(one) for one in page["items"]))


def _cells(one: dict[str, Any]) -> tuple[object, ...]:
    speed, loss = one["tokens_per_second"], one["loss"]
    return (
        one["id"], one["name"], one["state"], one["step"], one["total_steps"],
        f"{speed:,.0f}" if isinstance(speed, float) else speed, figure(loss),
        one["checkpoint_step"], one["group"], " ".join(one["tags"]),
    )  # fmt: skip
