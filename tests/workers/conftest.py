"""A scripted launcher in place of the local one, and a clock that stands."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
import time_machine

from tests.workers.scripted import Scripted
from workers import launchers


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Register a scripted launcher as `local`, and no other."""
    launchers.names()
    launcher = Scripted()
    monkeypatch.setattr(launchers, "_factories", {"local": lambda: launcher})
    return launcher


@pytest.fixture
def moved_clock() -> Iterator[Callable[[float], None]]:
    """Give a clock that stands, and a function that moves it on."""
    with time_machine.travel(datetime.now().astimezone(), tick=False) as traveller:
        yield lambda seconds: traveller.shift(timedelta(seconds=seconds))
