"""`safehold project …`."""

from typing import Annotated, Any

import typer

from safehold.api_client import place
from safehold.cli.output import AsJson, call, pairs, table
from safehold.cli.paging import Cursor, Limit, call_page

app = typer.Typer(no_args_is_help=False)
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="Short name of the project.")]


@app.command("list")
def list_projects(
    archived: Annotated[bool, typer.Option("--archived", help="The archived ones.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List your projects."""
    call_page(as_json, "projects", _print_list, archived=archived, limit=limit, cursor=cursor)


@app.command()
def show(slug: Slug, as_json: AsJson = False) -> None:
    """Show one project and your role in it."""
    call(as_json, lambda client: client.get(place("projects", slug)), _print_one)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people read.")],
    slug: Annotated[str, typer.Option(help="Short name; made from the name when left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a project; for administrators of the service."""
    call(
        as_json, lambda client: client.create("projects", {"name": name, "slug": slug}), _print_one
    )


@app.command()
def rename(
    slug: Slug,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: AsJson = False,
) -> None:
    """Give a project another name."""
    call(as_json, lambda client: client.change("projects", slug, {"name": name}), _print_one)


@app.command()
def archive(slug: Slug, as_json: AsJson = False) -> None:
    """Make a project read-only."""
    call(as_json, lambda client: client.post(place("projects", slug, "archive")), _print_one)


@app.command()
def restore(slug: Slug, as_json: AsJson = False) -> None:
    """Bring an archived project back."""
    call(as_json, lambda client: client.post(place("projects", slug, "restore")), _print_one)


def _print_one(project: dict[str, Any]) -> None:
    pairs({key: project[key] for key in ("slug", "name", "role", "created_at", "archived_at")})


def _print_list(page: dict[str, Any]) -> None:
    rows = ((one["slug"], one["name"], one["role"], one["archived_at"]) for one in page["items"])
    table(("slug", "name", "your role", "archived"), rows)
