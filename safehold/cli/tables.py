"""Tables and lines for people: no colour and no cutting in a pipe, times in UTC, nothing of Python's own spelling."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")
_OF_A_PIPE = 10_000  # columns
_SHORT = (
    20  # characters: such cells stay in one line, longer ones are folded where there is no room
)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below each other; a column in which nothing stands is left out, so that the rest has room."""
    cells = [[cell(value) for value in row] for row in rows]
    if not cells:
        lines("None.")
        return
    shown = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    drawn = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        show_header=any(columns),
    )
    for place in shown:
        is_short = max(len(row[place]) for row in cells) <= _SHORT
        drawn.add_column(columns[place], overflow="fold", no_wrap=is_short)
    for row in cells:
        drawn.add_row(*(Text(row[place]) for place in shown))
    console().print(drawn)


def cell(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=str) if value else ""
    if isinstance(value, list | tuple):
        return ", ".join(cell(one) for one in value)
    text = str(value)
    return f"{found[1]} {found[2]}Z" if (found := _TIME.fullmatch(text)) else text


def figure(value: object) -> object:
    """Return a measured number with four digits, as people read it; anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else value


def size(num_bytes: float | None) -> str:
    """Return bytes in the unit that suits."""
    if num_bytes is None:
        return ""
    for unit in ("B", "KB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:,.4g} TB"


def pairs(values: Mapping[str, object]) -> None:
    """Print names and values; what is not known is left out."""
    table(
        ("", ""), ((name.replace("_", " "), value) for name, value in values.items() if cell(value))
    )


def lines(*texts: str) -> None:
    """Print plain lines."""
    for text in texts:
        print(text)


def console() -> Console:
    """Return the console; piped output is never cut to a width."""
    found = Console(highlight=False, markup=False, emoji=False)
    if found.is_terminal:
        return found
    return Console(highlight=False, markup=False, emoji=False, width=_OF_A_PIPE)
