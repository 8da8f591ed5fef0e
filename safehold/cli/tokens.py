"""`safehold token …`: your own tokens."""

from typing import Annotated, Any

import typer

from safehold.cli.asking import Yes, ask
from safehold.cli.output import AsJson, call, lines, pairs, table
from safehold.cli.paging import Cursor, Limit, call_page

app = typer.Typer(no_args_is_help=False)


@app.command("list")
def list_tokens(
    ended: Annotated[bool, typer.Option("--all", help="Ended and revoked ones too.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your tokens."""
    call_page(as_json, "tokens", _print_list, live=not ended, limit=limit, cursor=cursor)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="plan, run, approve, admin or account; repeat it. Every token may read."),
    ] = None,
    project: Annotated[str | None, typer.Option(help="The only project that it sees.")] = None,
    days: Annotated[int, typer.Option(help="Until it ends; 0: never.")] = 90,
    as_json: AsJson = False,
) -> None:
    """Make a token; its secret is printed this once."""
    body = {
        "name": name,
        "scopes": ["read", *(scope or [])],
        "project": project,
        "expires_in_days": days or None,
    }
    call(as_json, lambda client: client.create("tokens", body), _print_new)


@app.command()
def revoke(
    token: Annotated[int, typer.Argument(metavar="TOKEN", help="Id of the token.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """End a token at once; it cannot be brought back."""
    ask(f"End token {token}? What uses it is refused from then on.", yes)
    call(as_json, lambda client: client.act("tokens", token, "revoke"), _print_one)


def _print_list(page: dict[str, Any]) -> None:
    rows = (
        (one["id"], one["name"], " ".join(one["scopes"]), one["project"], one["last_used_at"], one["expires_at"], one["revoked_at"])
        for one in page["items"]
    )  # fmt: skip
    table(("id", "name", "scopes", "project", "last used", "ends", "revoked"), rows)


def _print_one(token: dict[str, Any]) -> None:
    pairs(
        {key: value for key, value in token.items() if key != "secret"}
        | {"scopes": " ".join(token["scopes"])}
    )


def _print_new(token: dict[str, Any]) -> None:
    _print_one(token)
    lines("", token["secret"] or "The secret was shown when the token was made.")
