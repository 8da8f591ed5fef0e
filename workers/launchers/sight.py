"""Looking at a local attempt: its folder, its wrapper, and what may have outlived it."""

import socket
from datetime import UTC, datetime
from typing import Any

from workers.launchers import processes
from workers.launchers.base import Observation, Presence
from workers.launchers.folder import Folder

# How long the end of an attempt waits for what its wrapper has to tell of checkpoints: a restart of the web process.
SAVES_SECONDS = 30.0


def look(folder: Folder) -> Observation:
    """Look once.

    Raises:
        OSError: The folder cannot be seen.
    """
    # In this order: a fence that was there before the lock was free is one that every start meets.
    is_fenced = folder.is_fenced if folder.exists else False
    wrapper = folder.wrapper()
    if wrapper is None and folder.is_locked:
        return _seen(Presence.PENDING, is_fenced, reason="Its process wrapper is starting.")
    wrapper = wrapper or folder.wrapper()
    if wrapper is None:
        survivors = processes.marked(folder.path)
        return _seen(Presence.ABSENT, is_fenced, num_survivors=len(survivors))
    if reason := _elsewhere(folder):
        return _seen(Presence.UNREACHABLE, is_fenced, reason=reason)
    return _look_at_wrapper(folder, wrapper, is_fenced)


def _look_at_wrapper(folder: Folder, wrapper: processes.Identity, is_fenced: bool) -> Observation:
    handle, is_alive, record = handle_of(wrapper), wrapper.is_alive, folder.exit()
    # A program can write this file too; the wrapper writes it when all below it is gone, and then
    # only sends what was not sent yet.
    others = processes.marked(folder.path) - {wrapper.pid} if record or not is_alive else set()
    if is_alive and (others or not record):
        where = f"{socket.gethostname()}, process {wrapper.pid}"
        return _seen(Presence.RUNNING, is_fenced, handle=handle, where=where)
    if is_alive and folder.has_unsent_saves(SAVES_SECONDS):
        # Once the attempt has ended it may register nothing, and what it saved last would be lost.
        reason = "Its ranks ended; it sends which checkpoints they saved."
        return _seen(Presence.RUNNING, is_fenced, handle=handle, reason=reason)
    record = record or folder.exit()
    return _seen(
        Presence.EXITED, is_fenced, handle=handle, exit=record or None, num_survivors=len(others)
    )


def handle_of(wrapper: processes.Identity) -> dict[str, Any]:
    """Return what finds the wrapper again without a search."""
    return {"pid": wrapper.pid, "started": wrapper.started, "boot_id": wrapper.boot_id}


def _elsewhere(folder: Folder) -> str:
    """Say so when the attempt was started on another machine: its processes cannot be seen from here."""
    machine = folder.read("spec.json").get("machine")
    if not machine or not processes.machine_id() or machine == processes.machine_id():
        return ""
    return "It was started on another machine, which this worker cannot see."


def _seen(presence: Presence, is_fenced: bool, **more: Any) -> Observation:
    return Observation(presence=presence, is_fenced=is_fenced, seen_at=now(), **more)


def now() -> datetime:
    """Return the time of the look."""
    return datetime.now(UTC)
