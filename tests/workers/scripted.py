"""A launcher that starts nothing: what is under a name is what a test says."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workers.launchers.base import LauncherError, LaunchSpec, Observation, Presence


@dataclass
class Scripted:
    """A launcher whose workloads run until told otherwise; `starts` counts what was really made."""

    starts: Counter[str] = field(default_factory=Counter)
    calls: list[tuple[str, str]] = field(default_factory=list)
    seen: dict[str, Observation] = field(default_factory=dict)
    fenced: set[str] = field(default_factory=set)
    is_reachable: bool = True
    start_error: LauncherError | None = None
    on_start: Callable[[], None] = lambda: None
    specs: list[LaunchSpec] = field(default_factory=list)

    def start(self, spec: LaunchSpec) -> Mapping[str, Any]:
        self.calls.append(("start", spec.name))
        self.specs.append(spec)
        self.on_start()
        if self.start_error is not None:
            raise self.start_error
        if spec.name not in self.seen:
            if spec.name in self.fenced:
                raise LauncherError(f"The name {spec.name} is closed.", can_retry=False)
            self.starts[spec.name] += 1
            self.set(spec.name, Presence.RUNNING)
        return {"id": spec.name}

    def observe(self, name: str, handle: Mapping[str, Any]) -> Observation:
        if not self.is_reachable:
            return Observation(presence=Presence.UNREACHABLE, reason="The cluster does not answer.")
        is_fenced = name in self.fenced
        return self.seen.get(name, Observation(presence=Presence.ABSENT, is_fenced=is_fenced))

    def stop(self, name: str, handle: Mapping[str, Any], *, grace_seconds: int) -> None:
        self.calls.append(("stop", name))

    def kill(self, name: str, handle: Mapping[str, Any]) -> None:
        self.calls.append(("kill", name))
        if name in self.seen:
            self.set(name, Presence.EXITED)

    def fence(self, name: str) -> None:
        self.calls.append(("fence", name))
        self.fenced.add(name)

    def live_names(self) -> Iterable[str]:
        return [name for name, seen in self.seen.items() if seen.is_alive]

    def set(self, name: str, presence: Presence, **more: Any) -> None:
        """Let a look at the name show this."""
        where = "nowhere" if presence is Presence.RUNNING else ""
        self.seen[name] = Observation(presence=presence, handle={"id": name}, where=where, **more)

    def exit(self, name: str, outcome: str, **more: Any) -> None:
        """Let the workload have exited."""
        self.set(name, Presence.EXITED, exit={"v": 1, "outcome": outcome} | more)
