"""Ask again until the service is done."""

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from safehold.cli.output import CannotRun

POLL_SECONDS = 0.5
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait for the verdict.")]


def until(
    fetch: Callable[[], dict[str, Any]],
    is_done: Callable[[dict[str, Any]], bool],
    seconds: float,
    sentence: Callable[[dict[str, Any]], str],
) -> dict[str, Any]:
    """Return the first answer that is done.

    Args:
        fetch: Asks the service.
        is_done: Judges an answer.
        seconds: How long to ask.
        sentence: What to say of the last answer when the time is over.

    Raises:
        CannotRun: It was not done in time.
    """
    deadline = time.monotonic() + seconds
    while not is_done(answer := fetch()):
        if time.monotonic() > deadline:
            raise CannotRun(sentence(answer))
        time.sleep(POLL_SECONDS)
    return answer


def until_verdict(
    fetch: Callable[[], dict[str, Any]], seconds: float, subject: str
) -> dict[str, Any]:
    """Return a report once it has its verdict.

    Args:
        fetch: Asks the service for the report.
        seconds: How long to ask.
        subject: What it is a report of, to begin a sentence with.

    Raises:
        CannotRun: It broke down, or was not done in time.
    """
    report = until(
        fetch,
        lambda answer: bool(answer["verdict"] or answer["error"]),
        seconds,
        lambda answer: f"{subject} is {answer['state']} after {seconds:g} seconds.",
    )
    if not report["verdict"]:
        raise CannotRun(f"{subject} failed: {report['error']}")
    return report
