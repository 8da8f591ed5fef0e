from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from safehold.connection import Connection

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(10)
        yield made


def url(listener: socket.socket, path: str = "") -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}{path}"


def serve(listener: socket.socket, num_each: list[int], heads: list[bytes]) -> threading.Thread:
    """Take connections one after another, answer so many requests on each, then close it."""

    def run() -> None:
        for num in num_each:
            taken, _ = listener.accept()
            with taken:
                for _ in range(num):
                    head = b""
                    while not head.endswith(b"body"):
                        head += taken.recv(65536)
                    heads.append(head)
                    taken.sendall(ANSWER)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_connection_is_kept_and_opened_again_when_it_was_closed(listener: socket.socket) -> None:
    heads: list[bytes] = []
    thread = serve(listener, [2, 1], heads)
    connection = Connection(url(listener, "/prefix/"))
    for _ in range(3):
        answer = connection.post("/path", b"body", {"A": "b"})
        assert (answer.status, answer.body) == (200, b"ok")
    thread.join()
    connection.close()
    assert all(head.startswith(b"POST /prefix/path HTTP/1.1\r\n") for head in heads)


def test_no_server_is_an_os_error(listener: socket.socket) -> None:
    address = url(listener)
    listener.close()
    with pytest.raises(ConnectionRefusedError):
        Connection(address).post("/", b"", {})


@pytest.mark.parametrize("address", ["ftp://host", "host:8000", "http://"])
def test_an_address_that_is_none_says_so(address: str) -> None:
    with pytest.raises(ValueError, match="is no address of a server"):
        Connection(address)
