"""What a launcher is: one way to start, observe and stop the workload of an attempt.

Every method may be repeated at any time, by any worker, after any crash. The workload is found by its
name alone; the handle only spares a search.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from controlplane.common.errors import SafeholdError


class LauncherError(SafeholdError):
    """The launcher could not do it.

    Attributes:
        can_retry: Whether trying again may help; a bad image or command is final.
    """

    code = "launcher"
    http_status = 502

    def __init__(self, message: str, *, can_retry: bool, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.can_retry = can_retry


class Presence(StrEnum):
    """What a look at the workload says. Not being able to look is never absence."""

    ABSENT = "absent"
    PENDING = "pending"
    RUNNING = "running"
    EXITED = "exited"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One look at one workload.

    Attributes:
        presence: What was seen.
        reason: Why it is pending, how it exited, or why it could not be seen: a sentence.
        exit: The wrapper's exit record (see docs/reference/wire.md), when it exited and left one.
        where: Node or host and process, for people.
        seen_at: When, by the observer's clock.
        is_fenced: The name is closed: nothing can be started under it any more.
        num_survivors: Parts of the workload that outlived it; it is not gone while there are any.
        is_due: It waited for its turn, and a start that is repeated now brings it to life.
        is_suspended: It is held back by whoever admits it; nothing of it runs.
        lost_since: Since when a node under it has not answered; None while all do.
        handle: What spares the next look a search.
    """

    presence: Presence
    reason: str = ""
    exit: Mapping[str, Any] | None = None
    where: str = ""
    seen_at: datetime | None = None
    is_fenced: bool = False
    num_survivors: int = 0
    is_due: bool = False
    is_suspended: bool = False
    lost_since: datetime | None = None
    handle: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        """Whether anything of the workload runs or is about to."""
        return self.presence in {Presence.PENDING, Presence.RUNNING} or self.num_survivors > 0

    @property
    def is_gone(self) -> bool:
        """Whether it was seen that nothing of the workload runs; never true of what cannot be seen."""
        return self.presence in {Presence.ABSENT, Presence.EXITED} and not self.num_survivors


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    """All that a launcher needs to start one attempt; `token` is a secret and never logged.

    `resume_from` names a checkpoint whose whole state is restored, `weights_from` one whose weights alone are; at most one.
    `asked_at` (seconds since the epoch) orders attempts that wait for each other; 0: whoever comes first.
    """

    name: str
    run_id: int
    attempt: int
    config: Mapping[str, Any]
    command: tuple[str, ...]
    devices: int
    nodes: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    token: str = field(repr=False)
    ingest_url: str
    checkpoint_root: Path
    resume_from: str | None = None
    is_fork: bool = False
    weights_from: str | None = None
    grace_seconds: int = 60
    asked_at: float = 0.0


class Launcher(Protocol):
    """One way to run attempts."""

    def start(self, spec: LaunchSpec) -> Mapping[str, Any]:
        """Start the workload unless one of this name exists or the name is fenced; return its handle.

        Raises:
            LauncherError: It could not be started.
        """
        ...

    def observe(self, name: str, handle: Mapping[str, Any]) -> Observation:
        """Look once; never raises for a workload or a cluster that cannot be seen."""
        ...

    def stop(self, name: str, handle: Mapping[str, Any], *, grace_seconds: int) -> None:
        """Ask the workload to end within the grace; what is still there after it is killed."""
        ...

    def kill(self, name: str, handle: Mapping[str, Any]) -> None:
        """End the workload now."""
        ...

    def fence(self, name: str) -> None:
        """Close the name: a later `start` with it does nothing and raises a final LauncherError."""
        ...

    def live_names(self) -> Iterable[str]:
        """Return the names of which anything is alive, of whatever state our records say.

        Raises:
            LauncherError: It cannot be seen.
        """
        ...


@runtime_checkable
class Cleaner(Protocol):
    """A launcher whose workloads leave something behind that has to be removed."""

    def names(self) -> Iterable[str]:
        """Return all names under which anything lies, alive or not.

        Raises:
            LauncherError: It cannot be seen.
        """
        ...

    def clean(self, name: str) -> None:
        """Remove all that was made under the name, what closes it included; it must not be used again.

        Raises:
            LauncherError: It could not be done.
        """
        ...


def program(command: tuple[str, ...], python: str) -> list[str]:
    """Return what every rank executes: a script or `-m module` of a config begins with no interpreter."""
    if command[0] in {"-m", "-c"} or command[0].endswith(".py"):
        return [python, *command]
    return list(command)
