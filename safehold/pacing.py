"""Turns that are not taken too often, yet at once after a quiet moment. Pure: the caller tells the time."""

from __future__ import annotations

from collections import deque

# Of the distance of two turns: so late may one come before it pushes the next one back. Without it a
# stream with just that distance would stay as late as its latest turn ever was.
SLACK_SHARE = 0.9


class Pace:
    """Says when the next turn may be taken.

    Args:
        seconds: Between two turns, on average.
        most: Turns in any `most * seconds`, for the slack must not make it more.
    """

    def __init__(self, seconds: float, most: int = 10) -> None:
        self._seconds = seconds
        self._window_seconds = most * seconds
        self._taken = deque[float](maxlen=most)
        self._due = 0.0

    def pause(self, now: float) -> float:
        """Return the seconds until the next turn may be taken."""
        at = self._due - SLACK_SHARE * self._seconds
        if len(self._taken) == self._taken.maxlen:
            at = max(at, self._taken[0] + self._window_seconds)
        return max(0.0, at - now)

    def take(self, now: float) -> None:
        """Note a turn."""
        self._taken.append(now)
        self._due = max(self._due, now) + self._seconds
