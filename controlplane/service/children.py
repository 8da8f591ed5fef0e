"""How the service starts a child: own session, dies with the service, no rights it does not need."""

import ctypes
import os
import pwd
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 8, 47, 2
PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP = 28, 1 << 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522
# A log is turned over when its process starts: enough for a day of trouble.
MAX_LOG_BYTES = 32 * 1024 * 1024
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(death_signal: signal.Signals = signal.SIGTERM) -> None:
    """Ask the kernel for a signal when the parent is gone, however it went; call in the child.

    The parent is the *thread* that started the child, so start children from the main thread.
    """
    _libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)


def drop_root() -> None:
    """Become `nobody`, keeping only the right to pass directories; call in the child.

    PostgreSQL refuses to run as root. Another user could not reach a data directory or a virtual
    environment below /root, and opening those to the world would be worse than this one capability.
    Where the kernel grants none (a container without it) the step is skipped: open paths still work.
    """
    nobody = pwd.getpwnam("nobody")
    # access(), by which PostgreSQL looks for its own programs, counts no capability of an ordinary user otherwise.
    _libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    _libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(nobody.pw_gid, nobody.pw_gid, nobody.pw_gid)
    os.setresuid(nobody.pw_uid, nobody.pw_uid, nobody.pw_uid)
    keep = 1 << CAP_DAC_OVERRIDE
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, struct.pack("6I", keep, keep, keep, 0, 0, 0)) == 0:
        _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0)


def start(
    command: list[str],
    *,
    log: Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    death_signal: signal.Signals = signal.SIGTERM,
    unprivileged: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own (Ctrl-C reaches the service alone), its output in `log`.

    Args:
        command: Program and arguments.
        log: File that standard output and error are appended to.
        env: Whole environment; the service's own when None.
        cwd: Working directory.
        death_signal: What the child gets when the service is killed.
        unprivileged: Leave root, where the service runs as root.
    """
    _turn_over(log)
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_preparation(death_signal, unprivileged=unprivileged),
        )


def _turn_over(log: Path) -> None:
    """Begin a new file when the old one has grown; one older file is kept."""
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(log.with_name(log.name + ".1"))


def _preparation(death_signal: signal.Signals, *, unprivileged: bool) -> Callable[[], None]:
    leave_root = unprivileged and os.geteuid() == 0

    def prepare() -> None:
        if leave_root:
            drop_root()
        # A change of user clears the death signal, so it comes last.
        die_with_parent(death_signal)

    return prepare


def stop(child: subprocess.Popen[bytes], how: signal.Signals, timeout_seconds: float) -> None:
    """Signal the child and wait; kill it when it does not end in time."""
    if child.poll() is not None:
        return
    child.send_signal(how)
    try:
        child.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
