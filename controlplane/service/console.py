"""What `up` tells the person at the terminal: few lines, the rest is in the logs."""

import contextlib
import sys

from controlplane.common.errors import SafeholdError


def say(text: str = "") -> None:
    """Write a line at once; a terminal that was closed must not stop the service."""
    with contextlib.suppress(OSError):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def complain(error: SafeholdError) -> None:
    """Write what is wrong and what to do about it."""
    sys.stderr.write(f"safehold: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"          {error.hint}\n")
    sys.stderr.flush()
