"""Runs attempts as processes of this machine, each under a detached process wrapper.

The wrapper has a session of its own and outlives the worker; it is found again by process number, start
time and boot. Everything known about an attempt lies in its folder, so any worker on this machine may
go on where another one died.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from safehold.findings import Finding
from workers.kube.showing import Shown
from workers.launchers import launcher, local_drift, processes, sight
from workers.launchers.base import LauncherError, LaunchSpec, Observation, Presence
from workers.launchers.devices import Devices, of_this_machine
from workers.launchers.folder import Folder
from workers.launchers.line import Line
from workers.launchers.spawning import START_SECONDS, spawn

WRAPPER = (sys.executable, "-m", "safehold.wrapper")
# The handle of what is in the line: it was taken on, and nothing of it runs.
WAITING: Mapping[str, Any] = {"waiting": True}
_KILL_SECONDS = 10.0
_POLL_SECONDS = 0.02


class LocalLauncher:
    """Attempts as processes below one folder."""

    def __init__(
        self, root: Path, wrapper: tuple[str, ...] = WRAPPER,
        devices: Callable[[], Devices] = of_this_machine,
    ) -> None:  # fmt: skip
        self._root = root
        self._wrapper = wrapper
        self._devices = devices
        self._line = Line(root, devices)

    def start(self, spec: LaunchSpec) -> Mapping[str, Any]:
        """Start the wrapper unless there was one, and return as soon as it says who it is.

        Where the devices are in use it takes its place in the line; a start that is repeated asks whether it is due.

        Raises:
            LauncherError: The name is closed, it asks for more than there is, or the wrapper could not be started.
        """
        folder = self._folder(spec.name)
        try:
            folder.make()
            with folder.locked(START_SECONDS) as lock:
                if lock is not None and folder.wrapper() is None:
                    ids = self._enter(folder, spec)
                    if ids is None:
                        return WAITING
                    spawn(folder, spec, lock=lock, gpus=ids, wrapper=self._wrapper)
                    self._line.leave(spec.name)
        except OSError as error:
            raise LauncherError(
                f"Attempt {spec.name} cannot be started in {folder.path}: {error}.",
                can_retry=True,
                hint="Look at the free space and the rights of the folder.",
            ) from error
        return self._handle(folder)

    def observe(self, name: str, handle: Mapping[str, Any]) -> Observation:
        """Look at the wrapper, its exit record and what may have outlived it."""
        folder = self._folder(name)
        try:
            return self._in_line(name, sight.look(folder))
        except OSError as error:
            reason = f"{folder.path} cannot be read: {error}."
            return Observation(presence=Presence.UNREACHABLE, reason=reason, seen_at=sight.now())

    def stop(self, name: str, handle: Mapping[str, Any], *, grace_seconds: int) -> None:
        """Send SIGTERM to the wrapper, once: it passes it on and keeps the grace itself; not while it sends its rest."""
        folder = self._folder(name)
        try:
            self._line.leave(name)
            wrapper = folder.wrapper()
            if wrapper is None or not wrapper.is_alive or not self._living(folder):
                return
            if folder.note_once("stop"):
                processes.send(wrapper.pid, signal.SIGTERM)
        except OSError as error:
            raise LauncherError(f"{name} cannot be stopped: {error}.", can_retry=True) from error

    def kill(self, name: str, handle: Mapping[str, Any]) -> None:
        """Kill every process of the attempt, again until none is left.

        Raises:
            LauncherError: Some do not die.
        """
        folder = self._folder(name)
        self._line.leave(name)
        deadline = time.monotonic() + _KILL_SECONDS
        while living := self._living(folder):
            if time.monotonic() > deadline:
                raise LauncherError(
                    f"Processes {sorted(living)} of {name} do not die.",
                    can_retry=True,
                    hint="They may wait for a device or a disk; look at them with `ps`.",
                )
            for pid in living:
                processes.send(pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)

    def fence(self, name: str) -> None:
        """Leave a file that every start looks for once it holds the lock."""
        try:
            self._folder(name).fence()
            self._line.leave(name)
        except OSError as error:
            raise LauncherError(f"{name} cannot be closed: {error}.", can_retry=True) from error

    def live_names(self) -> Iterable[str]:
        """Return the names to which a living process belongs that is more than a wrapper sending its rest."""
        folders = processes.folders_below(self._root)
        names = {folder.name for folder in folders if folder.parent == self._root}
        return {name for name in names if self.observe(name, {}).is_alive}

    def show(self, name: str) -> Shown:
        """Return nothing beyond the state: an attempt on this machine has no pods."""
        return Shown((), (), ())

    def drift(
        self,
        spec: LaunchSpec,
        *,
        handle: Mapping[str, Any] | None = None,
        known_images: Iterable[str] = (),
    ) -> list[Finding]:
        """Return where the files of the attempt are not what it was started with.

        Raises:
            LauncherError: They cannot be read.
        """
        folder = self._folder(spec.name)
        try:
            return local_drift.drift(spec, folder) if folder.wrapper() is not None else []
        except OSError as error:
            raise LauncherError(
                f"{spec.name} cannot be looked at: {error}.", can_retry=True
            ) from error

    def _folder(self, name: str) -> Folder:
        return Folder(self._root / name)

    def _enter(self, folder: Folder, spec: LaunchSpec) -> tuple[str, ...] | None:
        if folder.is_fenced:
            raise LauncherError(f"The name {spec.name} is closed.", can_retry=False)
        devices = self._devices()
        if not devices.can_ever_hold(spec.devices):
            raise LauncherError(
                f"It asks for {spec.devices} devices; attempts on this machine may use {devices.num}.",
                can_retry=False,
                hint="Lower compute.devices, raise SAFEHOLD_LOCAL_DEVICES, or launch it on a cluster.",
            )
        return self._line.enter(spec.name, spec.devices, spec.asked_at)

    def _in_line(self, name: str, seen: Observation) -> Observation:
        """Return the look at an attempt of which nothing is there, as of one that waits if it does."""
        if seen.presence is not Presence.ABSENT or seen.is_fenced or seen.num_survivors:
            return seen
        turn = self._line.turn(name)
        if turn is None:
            return seen
        return replace(
            seen, presence=Presence.PENDING, reason=turn.reason, is_due=turn.is_due, handle=WAITING
        )

    def _handle(self, folder: Folder) -> Mapping[str, Any]:
        wrapper = folder.wrapper()
        if wrapper is None:
            raise LauncherError(
                f"{folder.path.name} is being started by another worker.", can_retry=True
            )
        return sight.handle_of(wrapper)

    def _living(self, folder: Folder) -> set[int]:
        try:
            wrapper = folder.wrapper()
        except OSError:  # whoever carries the mark of the folder is found without reading it
            wrapper = None
        own = {wrapper.pid} if wrapper is not None and wrapper.is_alive else set()
        living = own | processes.marked(folder.path)
        # A wrapper whose ranks are over only sends what they left.
        return set() if living == own and folder.exit() else living


@launcher("local")
def local() -> LocalLauncher:
    """Return the launcher of this machine."""
    return LocalLauncher(Path(settings.SAFEHOLD_ATTEMPTS_DIR), devices=_devices)


def _devices() -> Devices:
    return of_this_machine(settings.SAFEHOLD_LOCAL_DEVICES)
