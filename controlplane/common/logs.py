"""Structured logs: one JSON object a line."""

import json
import logging


class JsonFormatter(logging.Formatter):
    """Formats a record as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return json.dumps({"event": record.getMessage(), "level": record.levelname})
