"""`safehold view …`: lists of runs under a name."""

from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from safehold.cli.cards import OfProject, Project
from safehold.cli.output import AsJson, CannotRun, call, lines, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.run_listing import (
    ORDERS,
    SHELVES,
    STATES,
    Group,
    Order,
    Owner,
    Shelf,
    State,
    Tag,
    Text,
)

app = typer.Typer(no_args_is_help=False)


@app.command("list")
def list_views(
    project: OfProject = None, limit: Limit = 50, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List your views and the shared ones."""
    call_page(as_json, "views", _print_views, project=project, limit=limit, cursor=cursor)


@app.command()
def save(
    name: Annotated[str, typer.Argument(help="The same name again replaces your own.")],
    state: State = None,
    owner: Owner = None,
    group: Group = None,
    tag: Tag = None,
    text: Text = None,
    shelf: Shelf = None,
    order: Order = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="For all members of the project.")
    ] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Keep filters and order of the list of runs under a name."""
    filters = {
        "state": state,
        "owner": owner,
        "group": group,
        "tag": tag,
        "q": text,
        "shelf": shelf,
        "order": order,
    }
    _refuse_unknown(state=(state, STATES), shelf=(shelf, SHELVES), order=(order, ORDERS))
    query = urlencode({key: value for key, value in filters.items() if value})
    body = {"name": name, "query": query, "is_shared": shared, "project": project}
    call(
        as_json,
        lambda client: client.create("views", body),
        lambda view: _print_views({"items": [view]}),
    )


@app.command()
def remove(
    view: Annotated[int, typer.Argument(metavar="VIEW", help="Id of the view.")],
    as_json: AsJson = False,
) -> None:
    """Forget a view."""
    call(as_json, lambda client: client.remove(f"views/{view}"), lambda _: lines("Forgotten."))


def _refuse_unknown(**given: tuple[str | None, list[str]]) -> None:
    """Refuse what a list would: a view is kept as it is, and looked at by others."""
    for name, (value, known) in given.items():
        if value and value not in known:
            raise CannotRun(f"{name} is {value!r}; known: {', '.join(known)}.")


def _print_views(page: dict[str, Any]) -> None:
    table(
        ("id", "name", "query", "shared", "owner"),
        (
            (
                one["id"],
                one["name"],
                one["query"],
                "yes" if one["is_shared"] else "no",
                one["owner"],
            )
            for one in page["items"]
        ),
    )
