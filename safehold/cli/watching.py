"""Showing the same again and again until a person has seen enough."""

import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from safehold.api_errors import ApiError
from safehold.cli.numbers import finite

Watch = Annotated[
    float | None,
    typer.Option(
        "--watch",
        min=0.5,
        callback=finite,
        help="Show it again every so many seconds, until Ctrl-C.",
    ),
]
_PASSING = {0, 429, 502, 503, 504}
_CLEAR = "\x1b[2J\x1b[H"


def again_and_again(seconds: float | None, show: Callable[[], None]) -> None:
    """Show once, or every `seconds` until interrupted.

    A service that is away for a while, once it has answered, is told on standard error and asked again.
    A terminal is cleared in between; a pipe gets one answer after another, so `--watch 5 --json` is a stream of lines.
    """
    if seconds is None:
        show()
        return
    has_shown = False
    try:
        while True:
            if sys.stdout.isatty():
                print(_CLEAR, end="")
            try:
                show()
                has_shown = True
            except ApiError as error:
                if not has_shown or error.status not in _PASSING:
                    raise
                print(f"safehold: {error}", file=sys.stderr)
            sys.stdout.flush()
            time.sleep(seconds)
    except KeyboardInterrupt:
        raise typer.Exit from None
