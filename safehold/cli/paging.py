"""Lists, page by page."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from safehold.cli.output import call, lines

Limit = Annotated[int, typer.Option(min=1, max=200, help="Lines of a page.")]
Cursor = Annotated[
    str | None, typer.Option(help="Go on behind this place: what the page before said.")
]


def call_page(
    as_json: bool,
    path: str,
    for_people: Callable[[dict[str, Any]], None],
    **filters: Any,
) -> None:
    """Show one page of a list, and how to get the next one."""

    def told(page: dict[str, Any]) -> None:
        for_people(page)
        if following := page.get("next"):
            lines(f"There are more: add --cursor {following}")

    call(as_json, lambda client: client.page(path, **filters), told)
