"""A scripted launcher in place of the local one."""

import pytest

from tests.workers.scripted import Scripted
from workers import launchers


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Register a scripted launcher as `local`, and no other."""
    launchers.names()
    launcher = Scripted()
    monkeypatch.setattr(launchers, "_factories", {"local": lambda: launcher})
    return launcher
