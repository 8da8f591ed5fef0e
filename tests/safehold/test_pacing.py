from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from safehold.pacing import SLACK_SHARE, Pace

SECONDS = 0.1
gaps = st.lists(st.floats(0, 0.5), min_size=1, max_size=60)


def taken(asked: list[float], pace: Pace | None = None) -> list[float]:
    """Return when turns are taken that are asked for at these times; what waits goes in one turn."""
    pace, turns = pace or Pace(SECONDS), list[float]()
    for at in asked:
        if not turns or at > turns[-1]:  # otherwise it went along
            turns.append(at + pace.pause(at))
            pace.take(turns[-1])
    return turns


def sums(values: list[float]) -> list[float]:
    return [sum(values[: at + 1]) for at in range(len(values))]


def test_the_first_turn_is_free() -> None:
    assert Pace(SECONDS).pause(5.0) == 0.0


def test_a_turn_after_a_quiet_moment_is_free() -> None:
    assert taken([5.0, 5.2, 9.0]) == [5.0, 5.2, 9.0]


def test_a_late_turn_does_not_hold_up_those_after_it() -> None:
    """A stream as fast as the pace: one that came 80 ms late leaves the others as they are."""
    asked = [round(5 + at * SECONDS + (0.08 if at == 3 else 0.0), 6) for at in range(12)]
    assert [round(at, 6) for at in taken(asked)] == asked


@given(gaps)
def test_there_are_never_more_than_ten_turns_in_a_second(gaps: list[float]) -> None:
    turns = taken(sums([5.0, *gaps]))
    for first, eleventh in zip(turns, turns[10:], strict=False):
        assert eleventh - first >= 10 * SECONDS - 1e-9


@given(gaps)
def test_two_turns_are_never_nearer_than_the_slack_leaves(gaps: list[float]) -> None:
    asked = sums([5.0, *gaps])
    turns = taken(asked)
    for before, turn in pairwise(turns):
        assert turn - before >= (1 - SLACK_SHARE) * SECONDS - 1e-9
