"""Waiting for a condition instead of for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T],
    timeout: float = 10,
    message: str | Callable[[], str] = "",
    every: float = 0.05,
) -> T:
    """Call `condition` until it gives something true, and return that.

    Args:
        condition: Asked again and again; what it raises is not caught.
        timeout: Seconds after which the test fails.
        message: What was waited for, or a function that tells how far it came.
        every: Seconds between two questions.
    """
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        if time.monotonic() > deadline:
            what = message() if callable(message) else message
            raise AssertionError(f"Not within {timeout} s: {what or condition}")
        time.sleep(every)
    return answer
