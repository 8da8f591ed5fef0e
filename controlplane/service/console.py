"""What `up` tells the person at the terminal: few lines, the rest is in the logs; or one object, where a script asks."""

import contextlib
import json
import sys
from typing import Any

from controlplane.common.errors import SafeholdError

_JSON = {"is_asked": False}


def speak_json(is_asked: bool) -> None:
    """Have standard output hold one JSON object alone; the lines for people go to standard error."""
    _JSON["is_asked"] = is_asked


def say(text: str = "") -> None:
    """Write a line at once; a terminal that was closed must not stop the service."""
    stream = sys.stderr if _JSON["is_asked"] else sys.stdout
    with contextlib.suppress(OSError):
        stream.write(text + "\n")
        stream.flush()


def tell(**facts: Any) -> None:
    """Write the one object, where it is asked for."""
    if not _JSON["is_asked"]:
        return
    with contextlib.suppress(OSError):
        sys.stdout.write(json.dumps({"verdict": "pass", "findings": [], **facts}) + "\n")
        sys.stdout.flush()


def complain(error: SafeholdError) -> None:
    """Write in one line what is wrong and what to do about it."""
    told = f"{error.message} {error.hint}"
    sys.stderr.write(f"safehold: {' '.join(told.split())}\n")
    sys.stderr.flush()
