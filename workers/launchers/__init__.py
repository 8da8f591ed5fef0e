"""The launchers, found by name; a file in this folder registers itself with `@launcher`."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from controlplane.common.errors import NotFound
from workers.launchers.base import Launcher

Factory = TypeVar("Factory", bound=Callable[..., Launcher])
_factories: dict[str, Callable[..., Launcher]] = {}


def launcher(name: str) -> Callable[[Factory], Factory]:
    """Register a class or a function that makes a launcher of the settings, under the name that runs give.

    Raises:
        ValueError: The name is taken.
    """

    def register(factory: Factory) -> Factory:
        if name in _factories:
            raise ValueError(f"There are two launchers called {name}.")
        _factories[name] = factory
        return factory

    return register


def get(name: str) -> Launcher:
    """Return the launcher of this name; what follows a colon is for its factory: `kubernetes:CLUSTER`.

    Raises:
        NotFound: There is none.
    """
    _import_all()
    kind, _, detail = name.partition(":")
    if kind not in _factories:
        known = ", ".join(sorted(_factories))
        raise NotFound(f"There is no launcher called {name}.", hint=f"There are: {known}.")
    return _factories[kind](*([detail] if detail else []))


def names() -> list[str]:
    """Return the names of all launchers."""
    _import_all()
    return sorted(_factories)


@cache
def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
