"""Importing at the start of a process that then runs for long."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept() -> Iterator[None]:
    """Have the collector of garbage leave alone what is imported within.

    It would look through it again and again: while importing that is a fifth of the processor time, and later each
    full collection stops the process for 0.1 s, which every open page feels.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
