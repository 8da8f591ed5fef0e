"""What a form of workload is: how it is built, and how its state reads as that of an Indexed Job."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from safehold.config.kubernetes import Kubernetes
from workers.kube.kinds import Kind
from workers.kube.objects import Place
from workers.launchers.base import LauncherError, LaunchSpec

Json = dict[str, Any]
FORMS: dict[str, "Form"] = {}


class Form(Protocol):
    """One kind of object that runs the pods of an attempt. All methods are pure."""

    kind: Kind
    makes_service: bool

    def build(self, spec: LaunchSpec, options: Kubernetes, place: Place) -> Json:
        """Return the object for an attempt."""
        ...

    def as_job(self, item: Mapping[str, Any]) -> Json:
        """Return the object as an Indexed Job with the same meaning, for the one judgement of all forms."""
        ...

    def tombstone(self, name: str, place: Place) -> Json:
        """Return an object that occupies the name and never runs."""
        ...


def form(name: str) -> Callable[[type[Form]], type[Form]]:
    """Register a form under the name that configs use."""

    def register(cls: type[Form]) -> type[Form]:
        FORMS[name] = cls()
        return cls

    return register


def form_of(options: Kubernetes) -> Form:
    """Return the form that a config asks for.

    Raises:
        LauncherError: There is none of that name.
    """
    try:
        return FORMS[options.workload]
    except KeyError:
        known = ", ".join(sorted(FORMS))
        message = f"kubernetes.workload: {options.workload} is none of {known}."
        raise LauncherError(message, can_retry=False) from None


def served(groups: Collection[str]) -> list[Form]:
    """Return the forms whose API group a cluster serves; Jobs are always there."""
    return [
        found
        for found in FORMS.values()
        if found.kind.group == "batch" or found.kind.group in groups
    ]
