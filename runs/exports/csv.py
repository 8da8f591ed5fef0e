"""CSV: one line a point, so that no metric needs a column of its own and none is rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from runs.metricstore.whole import Block

# The apostrophe itself too: two names stay two, and who reads the file takes away one apostrophe, no more.
_FORMULA = ("=", "+", "-", "@", "'")
COLUMNS = ("name", "attempt", "rank", "step", "tokens", "time_ms", "value", "superseded")


def written(blocks: Iterable[Block]) -> Iterator[bytes]:
    """Yield the file; the first part is the line of names.

    Tokens that nobody knows are empty. A value is its shortest exact form, else NaN, Infinity or -Infinity.
    """
    yield f"{','.join(COLUMNS)}\n".encode()
    for block in blocks:
        yield "".join(_lines(block)).encode()


def _lines(block: Block) -> Iterator[str]:
    points = block.points
    head = f"{_quoted(block.name)},{block.attempt},{block.rank}"
    tail = "true" if block.is_superseded else "false"
    rows = zip(points.steps.tolist(), points.tokens.tolist(), points.times.tolist(), points.values.tolist(), strict=True)  # fmt: skip
    for step, tokens, time_ms, value in rows:
        yield f"{head},{step},{tokens if tokens >= 0 else ''},{time_ms},{_number(value)},{tail}\n"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _quoted(name: str) -> str:
    """Return a name as a cell; one that a spreadsheet would compute, or that begins with one, gets an apostrophe."""
    if name.startswith(_FORMULA):
        name = f"'{name}"
    if any(mark in name for mark in ',"\r\n'):
        return '"' + name.replace('"', '""') + '"'
    return name
