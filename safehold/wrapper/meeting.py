"""Where the nodes of an attempt meet.

Node 0 says so to the control plane, which every pod reaches by address; the others ask there. Names of pods
are the second way: a cluster whose headless services resolve trains without the control plane, and one
without such names trains with it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from safehold.wrapper.options import Options
from safehold.wrapper.server import transport_of

if TYPE_CHECKING:
    from safehold.transport import Transport

RENDEZVOUS = "/api/v1/ingest/rendezvous"
# How long the control plane may have nothing to say before the name of node 0 is tried as well.
PATIENCE_SECONDS = 20.0
ASK_SECONDS = 1.0
CONNECT_SECONDS = 2.0


class NoMeeting(Exception):
    """The nodes could not find each other."""


class Meeting:
    """One node's part of it."""

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ
        self._agreed = ""

    def agree(self, *, is_over: Callable[[], bool]) -> str:
        """Return `host:port` for torchrun, the same on every node; empty where there is one node only.

        Raises:
            NoMeeting: In time node 0 was not found, or it is over before.
        """
        if self._options.num_nodes > 1:
            is_first = self._options.node_rank == 0
            self._agreed = self._own() if is_first else self._found(is_over)
        return self._agreed

    def publish(self) -> None:
        """Tell the other nodes, if this is the one to tell; goes on in the background until it worked."""
        if self._options.num_nodes > 1 and self._options.node_rank == 0:
            threading.Thread(target=self._tell, name="safehold-meeting", daemon=True).start()

    def _own(self) -> str:
        wanted = int(self._options.endpoint.rpartition(":")[2])
        return endpoint_of(_own_address(self._environ), _free_port(wanted))

    def _found(self, is_over: Callable[[], bool]) -> str:
        with contextlib.ExitStack() as stack:
            transport = transport_of(self._environ)
            if transport is not None:
                stack.callback(transport.close)
            return self._search(transport, is_over)

    def _search(self, transport: Transport | None, is_over: Callable[[], bool]) -> str:
        began = time.monotonic()
        while not is_over():
            waited = time.monotonic() - began
            if transport is not None and (told := _asked(transport)):
                return told
            is_late = transport is None or waited > PATIENCE_SECONDS
            if is_late and _listens(self._options.endpoint):
                return self._options.endpoint
            if waited > self._options.meet_seconds:
                raise NoMeeting(self._why_not(transport is not None))
            time.sleep(ASK_SECONDS)
        raise NoMeeting("It was asked to stop before its ranks began.")

    def _why_not(self, has_server: bool) -> str:
        waited = f"within {self._options.meet_seconds:.0f} s"
        name = self._options.endpoint
        if has_server:
            return (
                f"Node {self._options.node_rank} did not learn from the control plane where node 0"
                f" is, and reached nobody at {name}, {waited}."
            )
        return (
            f"Node {self._options.node_rank} reached nobody at {name} {waited}, and no control"
            " plane is named that could say where node 0 is."
        )

    def _tell(self) -> None:
        transport = transport_of(self._environ)
        if transport is None:
            return
        address, _, port = self._agreed.rpartition(":")
        _told(transport, {"v": 1, "address": address.strip("[]"), "port": int(port)})
        transport.close()


def endpoint_of(address: str, port: int) -> str:
    """Return both in one text, an IPv6 address in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _asked(transport: Transport) -> str:
    """Return what node 0 has told, or nothing yet; a server that refuses says nothing either."""
    from safehold.transport import Denied, Rejected, Unreachable

    try:
        told = _post(transport, {"v": 1})
    except (Denied, Rejected, Unreachable):
        return ""
    address, port = told.get("address"), told.get("port")
    return endpoint_of(address, port) if isinstance(address, str) and type(port) is int else ""


def _told(transport: Transport, body: Mapping[str, object]) -> None:
    """Tell until it was heard, or is refused for good."""
    from safehold.transport import Denied, Rejected, Unreachable, wait_seconds

    failures = 0
    while True:
        try:
            _post(transport, body)
        except Unreachable as error:
            failures += 1
            time.sleep(wait_seconds(failures, error.retry_after_seconds))
        except (Denied, Rejected):
            return
        else:
            return


def _post(transport: Transport, body: Mapping[str, object]) -> dict[str, object]:
    from safehold import wire

    written = wire.write_map(dict(body), wire.CONTENT_JSON)
    return transport.post(RENDEZVOUS, written, content_type=wire.CONTENT_JSON)


def _own_address(environ: Mapping[str, str]) -> str:
    """Return an address of this machine under which others reach it, the likeliest first."""
    for address in _addresses(environ):
        with contextlib.suppress(OSError):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            with socket.socket(family) as probe:
                probe.bind((address, 0))
            return address
    return "127.0.0.1"


def _addresses(environ: Mapping[str, str]) -> Iterator[str]:
    if environ.get("SAFEHOLD_POD_IP"):
        yield environ["SAFEHOLD_POD_IP"]
    with contextlib.suppress(OSError, ValueError):
        yield _route_to(environ.get("SAFEHOLD_URL", ""))
    with contextlib.suppress(OSError):
        yield socket.gethostbyname(socket.gethostname())


def _route_to(url: str) -> str:
    """Return which of our addresses reaches the control plane; the kernel knows, nothing is sent."""
    server = urlsplit(url)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((server.hostname or "192.0.2.1", server.port or 80))
        return str(probe.getsockname()[0])


def _free_port(wanted: int) -> int:
    """Return the wanted port; where it is in use, as beside another training, any other."""
    for port in (wanted, 0):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("", port))
            found: int = probe.getsockname()[1]
            return found
    return wanted


def _listens(endpoint: str) -> bool:
    host, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
            return True
    except OSError:
        return False
