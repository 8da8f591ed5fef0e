"""Starting the process wrapper of a local attempt, detached from the worker that does it."""

import json
import os
import subprocess
import sys
import threading
import time

from workers.launchers import processes
from workers.launchers.base import LauncherError, LaunchSpec, program
from workers.launchers.folder import Folder
from workers.launchers.local_environment import environment_of

# Starting Python and importing the wrapper, on a machine that does much else.
START_SECONDS = 30.0
_POLL_SECONDS = 0.02
# A training takes every processor that it finds; the service beside it must still answer.
NICENESS = 5


def spawn(
    folder: Folder, spec: LaunchSpec, *, lock: int, gpus: tuple[str, ...], wrapper: tuple[str, ...]
) -> None:
    """Start the wrapper of an attempt and return as soon as it says who it is.

    Args:
        folder: Of the attempt.
        spec: What is started.
        lock: Descriptor of the folder's lock; the wrapper inherits it and keeps it for life.
        gpus: Ids of those it may use; none where processors are shared.
        wrapper: Its command.

    Raises:
        LauncherError: It ended before it began, or gave no sign.
        OSError: Its files cannot be written, or it cannot be started.
    """
    _write(folder, spec)
    command = [*wrapper, "--dir", str(folder.path), "--nproc", str(spec.devices)]
    with (folder.path / "logs" / "wrapper.out").open("ab") as output:
        process = subprocess.Popen(
            [*command, "--", *program(spec.command, sys.executable)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            cwd=folder.path, env=environment_of(folder.path, spec, gpus),
            start_new_session=True, pass_fds=[lock],
        )  # fmt: skip
    os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)  # before it starts its ranks
    # Reaps it while this worker lives; afterwards whoever adopts orphans does.
    threading.Thread(target=process.wait, name=f"reap-{spec.name}", daemon=True).start()
    _await_wrapper(folder, process)


def _await_wrapper(folder: Folder, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while folder.wrapper() is None:
        if process.poll() is not None and folder.wrapper() is None:
            raise LauncherError(
                f"The process wrapper of {folder.path.name} ended with code"
                f" {process.returncode} before it began: {_tail(folder)}",
                can_retry=True,
            )
        if time.monotonic() > deadline:
            raise LauncherError(
                f"The process wrapper of {folder.path.name} gave no sign within"
                f" {START_SECONDS:.0f} s.",
                can_retry=True,
            )
        time.sleep(_POLL_SECONDS)


def _write(folder: Folder, spec: LaunchSpec) -> None:
    folder.write("token", spec.token)
    folder.write("config.json", json.dumps(spec.config))
    public = {
        "name": spec.name, "run_id": spec.run_id, "attempt": spec.attempt,
        "command": list(spec.command), "devices": spec.devices,
        "resume_from": spec.resume_from, "weights_from": spec.weights_from, "machine": processes.machine_id(),
    }  # fmt: skip
    folder.write("spec.json", json.dumps(public))


def _tail(folder: Folder) -> str:
    try:
        lines = (folder.path / "logs" / "wrapper.out").read_text(errors="replace").splitlines()
    except OSError:
        return "it left no output."
    return lines[-1] if lines else "it left no output."
