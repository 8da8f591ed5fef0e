"""Showing the same again and again until a person has seen enough."""

import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

Watch = Annotated[
    float | None,
    typer.Option("--watch", min=0.5, help="Show it again every so many seconds, until Ctrl-C."),
]
_CLEAR = "\x1b[2J\x1b[H"


def again_and_again(seconds: float | None, show: Callable[[], None]) -> None:
    """Show once, or every `seconds` until interrupted.

    A terminal is cleared in between; a pipe gets one answer after another, so `--watch 5 --json` is a stream of lines.
    """
    if seconds is None:
        show()
        return
    try:
        while True:
            if sys.stdout.isatty():
                print(_CLEAR, end="")
            show()
            sys.stdout.flush()
            time.sleep(seconds)
    except KeyboardInterrupt:
        raise typer.Exit from None
