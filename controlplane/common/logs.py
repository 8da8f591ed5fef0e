"""Structured logs: one JSON object a line, with the request and the attempt that it belongs to."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

request_id: ContextVar[str] = ContextVar("request_id", default="")
attempt_id: ContextVar[int | None] = ContextVar("attempt_id", default=None)

# What every record has; the rest was given as `extra`.
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",  # uvicorn's copy of the message for terminals
}


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON: time, level, logger, event and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; a value that JSON does not know becomes its text."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= context()
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def context() -> dict[str, str | int]:
    """Return the ids of the request and attempt that this code works for, where there are any."""
    found: dict[str, str | int] = {}
    if request := request_id.get():
        found["request_id"] = request
    if (attempt := attempt_id.get()) is not None:
        found["attempt_id"] = attempt
    return found
