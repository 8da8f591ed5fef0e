"""Safehold in the training pod, in the worker and on a laptop.

The public names are loaded on first use, so that importing a format loads neither torch nor the
network client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from safehold.run import OfflineRun, Run, init
    from safehold.signals import Stopped

_HOMES = {
    "OfflineRun": "safehold.run",
    "Run": "safehold.run",
    "Stopped": "safehold.signals",
    "init": "safehold.run",
}

__all__ = ["OfflineRun", "Run", "Stopped", "init"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'safehold' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
