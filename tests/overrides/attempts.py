"""What an attempt to override is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.overrides.world import World


@dataclass(frozen=True)
class Attempted:
    """One attempt.

    Attributes:
        name: In words.
        act: Tries it. It is blocked when this raises, or returns an answer with an error status; and in any case the
            protected rows must be what they were.
        is_silent: It may succeed with another object of its own, the protected rows left alone.
    """

    name: str
    act: Callable[[World], Any]
    is_silent: bool = False
