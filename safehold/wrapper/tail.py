"""The last lines of an output, and the error among them."""

from __future__ import annotations

import re
from collections import deque

MOST_LINES = 300
_ERROR = re.compile(r"^[\w.]*(Error|Exception|Interrupt|Exit|Warning|Gone|Stopped)\b.*")


class Tail:
    """Keeps the last lines of what passes by."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._open = b""

    def feed(self, data: bytes) -> None:
        """Take in a piece of output."""
        *whole, self._open = (self._open + data).split(b"\n")
        self._open = self._open[-4000:]
        self._lines.extend(line[-1000:].decode(errors="replace") for line in whole)

    def error(self, most: int = 1500) -> str:
        """Return the last traceback, or else the last lines; what comes last is what is kept."""
        lines = [
            line for line in [*self._lines, self._open.decode(errors="replace")] if line.strip()
        ]
        starts = [i for i, line in enumerate(lines) if line.startswith("Traceback (most recent")]
        text = "\n".join(lines[starts[-1] :] if starts else lines[-8:])
        return text if len(text) <= most else "…" + text[1 - most :]


def summary(error: str) -> str:
    """Return the one line of an error that says the most."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    return (named or lines or [""])[-1][:300]
