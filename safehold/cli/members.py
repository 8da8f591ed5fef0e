"""`safehold member …`: who may do what in a project."""

from typing import Annotated, Any

import typer

from safehold.api_client import place
from safehold.cli.asking import Yes, ask
from safehold.cli.output import AsJson, call, lines, pairs, table
from safehold.cli.paging import Cursor, Limit, call_page

app = typer.Typer(no_args_is_help=False)
Slug = Annotated[str, typer.Argument(metavar="PROJECT", help="Short name of the project.")]
Username = Annotated[str, typer.Argument(metavar="USER", help="User name.")]


@app.command("list")
def list_members(
    slug: Slug, limit: Limit = 200, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List the members of a project with their roles."""
    path = place("projects", slug, "members")
    call_page(as_json, path, _print_list, limit=limit, cursor=cursor)


@app.command()
def add(
    slug: Slug,
    username: Username,
    role: Annotated[str, typer.Option(help="viewer, operator, approver or admin.")] = "viewer",
    as_json: AsJson = False,
) -> None:
    """Give somebody who has an account a role."""
    body = {"username": username, "role": role}
    call(
        as_json, lambda client: client.create(place("projects", slug, "members"), body), _print_one
    )


@app.command()
def change(
    slug: Slug,
    username: Username,
    role: Annotated[
        str, typer.Argument(metavar="ROLE", help="viewer, operator, approver or admin.")
    ],
    as_json: AsJson = False,
) -> None:
    """Give a member another role."""
    body = {"role": role}
    call(
        as_json,
        lambda client: client.change(place("projects", slug, "members"), username, body),
        _print_one,
    )


@app.command()
def remove(slug: Slug, username: Username, yes: Yes = False, as_json: AsJson = False) -> None:
    """Take somebody out of a project; what they did there stays."""
    ask(f"Take {username} out of project {slug}?", yes)
    path = place("projects", slug, "members", username)
    call(as_json, lambda client: client.remove(path), lambda _: lines("Removed."))


def _print_one(member: dict[str, Any]) -> None:
    pairs({key: member[key] for key in ("username", "name", "role")})


def _print_list(page: dict[str, Any]) -> None:
    rows = (
        (one["username"], one["name"], one["role"], "" if one["is_active"] else "closed")
        for one in page["items"]
    )
    table(("user", "name", "role", "account"), rows)
