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
        is_short = not _is_prose([row[place] for row in cells])
        name = columns[place].replace("_", " ")
        drawn.add_column(name, overflow="fold", no_wrap=is_short)
    for row in cells:
        drawn.add_row(*(Text(row[place]) for place in shown))
    wide = _least_width([[row[place] for row in [columns, *cells]] for place in shown])
    console(at_least=wide).print(drawn)


def _is_prose(column: list[str]) -> bool:
    """Whether it may go on in a second line: a path or a digest may not, for it is copied."""
    return any(len(text) > _SHORT and " " in text for text in column)


def _least_width(columns: list[list[str]]) -> int:
    """Return what a table needs at least: rather than cut a word it is left to the terminal to go on in the next line."""
    widths = [(max(map(len, cells)), _is_prose(cells)) for cells in columns]
    return sum(min(width, _SHORT) if is_prose else width for width, is_prose in widths) + 2 * len(
        widths
    )


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


def count(value: object) -> str:
    """Return a whole number with its thousands marked; empty where there is none."""
    return f"{value:,}" if isinstance(value, int) else ""


def size(num_bytes: float | None) -> str:
    """Return bytes in the unit that suits."""
    if num_bytes is None:
        return ""
    for unit in ("B", "KB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:,.4g} TB"


def duration(days: float) -> str:
    """Return a time in the unit that suits."""
    for unit, length_seconds in (("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if days * 86_400 >= length_seconds:
            return f"{days * 86_400 / length_seconds:,.3g} {unit}"
    return f"{days * 86_400:.3g} s"


def pairs(values: Mapping[str, object]) -> None:
    """Print names and values; what is not known is left out."""
    known = [(name.replace("_", " "), value) for name, value in values.items() if cell(value)]
    if known:
        table(("", ""), known)


def lines(*texts: str) -> None:
    """Print plain lines."""
    for text in texts:
        print(text)


def console(at_least: int = 0) -> Console:
    """Return the console, no narrower than that; piped output is never cut to a width."""
    found = Console(highlight=False, markup=False, emoji=False)
    width = max(found.width, at_least) if found.is_terminal else _OF_A_PIPE
    return Console(highlight=False, markup=False, emoji=False, width=width)
