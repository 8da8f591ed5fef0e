"""Whether a port is free, who has it, and which one to take instead."""

import contextlib
import errno
import socket

import psutil

from controlplane.common.errors import Conflict, SafeholdError

HOST = "127.0.0.1"
NUM_TRIED = 50


class PortTaken(Conflict):
    """Another program listens on the port."""

    code = "service-port-taken"


class CannotListen(SafeholdError):
    """The system refuses the address or the port."""

    code = "service-cannot-listen"


def check(port: int, host: str = HOST) -> None:
    """Pass when the port can be had.

    Raises:
        PortTaken: It cannot; the message names who has it and a free one.
        CannotListen: It is not the port's being taken: the address is none of this machine, or the port is root's.
    """
    error = _trouble(port, host)
    if error is None:
        return
    if error.errno != errno.EADDRINUSE:
        raise _refusal(port, host, error)
    other = next_free(port + 1, host)
    raise PortTaken(
        f"Port {port} is taken{holder(port)}.",
        hint=f"Port {other} is free: PORT={other} make up"
        if other
        else "Name another one: PORT=8001 make up",
    )


def url(host: str, port: int) -> str:
    """Return the address under which this machine reaches a server that listens there."""
    if host in {"", "0.0.0.0", "::"}:
        host = HOST
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_free(port: int, host: str = HOST) -> bool:
    """Return whether somebody can listen there now."""
    return _trouble(port, host) is None


def _trouble(port: int, host: str) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        # As the server will do: connections that linger from its last life do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _refusal(port: int, host: str, error: OSError) -> CannotListen:
    hint = "Set SAFEHOLD_BIND to an address of this machine."
    if error.errno == errno.EACCES:
        hint = "An ordinary user may not take it; name a higher one: PORT=8000 make up"
    told = f"Nothing can listen at port {port} of {host}: {error.strerror or error}."
    return CannotListen(told, hint=hint)


def next_free(port: int, host: str = HOST) -> int:
    """Return the first free port from `port` on; 0 (any) when none of the next ones is."""
    return next((p for p in range(port, min(port + NUM_TRIED, 65536)) if is_free(p, host)), 0)


def holder(port: int) -> str:
    """Return " by NAME (pid N)" where the system lets us see who listens."""
    with contextlib.suppress(psutil.Error, OSError):
        for found in psutil.net_connections("tcp"):
            is_listening = found.status == psutil.CONN_LISTEN
            if is_listening and getattr(found.laddr, "port", 0) == port and found.pid:
                return f" by {psutil.Process(found.pid).name()} (pid {found.pid})"
    return ""
