"""Which checkpoints lie on a run's line of history, and which of them a resume begins from.

An attempt that began from an earlier checkpoint left what came after it: those saves belong to the run
but not to its line. Pure, over recorded facts; names and file times play no part.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Point:
    """One checkpoint of the run: attempt number, step, and what is known of it."""

    id: int
    attempt: int
    step: int
    is_stable: bool = False


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where an attempt began: a step of another attempt of the run, or a checkpoint of another run."""

    checkpoint_id: int
    step: int
    attempt: int | None = None


def choose(
    points: Sequence[Point],
    *,
    newest_attempt: int,
    starts: Mapping[int, Start],
    prefer_stable: bool,
) -> int | None:
    """Return the id of the checkpoint from which the run goes on, or None: it has none.

    Args:
        points: The recovery points of the run, in any order.
        newest_attempt: The number of its newest attempt.
        starts: By attempt number; an attempt that began afresh is absent.
        prefer_stable: Take an older stable one before a newer one that is only verified.
    """
    for line in _lines(newest_attempt, starts):
        on_line = [point for point in points if _is_on(line, point)]
        stable = [point for point in on_line if point.is_stable] if prefer_stable else []
        if candidates := stable or on_line:
            # Steps only grow along a line; of two saves at one step the later record wins.
            return max(candidates, key=lambda point: (point.step, point.id)).id
        if origin := _foreign_origin(line, starts):
            return origin
    return None


# Attempt number -> the last step of it that still counts; None: all of it. Newest attempt first.
_Line = dict[int, int | None]


def _lines(newest: int, starts: Mapping[int, Start]) -> Iterator[_Line]:
    """Yield the line of the newest attempt; then, where it began afresh, the line before it."""
    number = newest
    while number >= 1:
        line = _line(number, starts)
        yield line
        number = min(line) - 1


def _line(newest: int, starts: Mapping[int, Start]) -> _Line:
    line: _Line = {newest: None}
    number = newest
    while (start := starts.get(number)) and start.attempt is not None and start.attempt < number:
        number = start.attempt
        line[number] = start.step
    return line


def _is_on(line: _Line, point: Point) -> bool:
    if point.attempt not in line:
        return False
    last = line[point.attempt]
    return last is None or point.step <= last


def _foreign_origin(line: _Line, starts: Mapping[int, Start]) -> int | None:
    start = starts.get(min(line))
    return start.checkpoint_id if start and start.attempt is None else None
