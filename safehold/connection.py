"""One kept HTTP connection, from the standard library.

It sends many small requests beside a training: a tenth of the processor time that a full client takes
for each, and nothing to import that the trainer does not have.
"""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
MAX_ANSWER_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, whole."""

    status: int
    content_type: str
    retry_after: str
    body: bytes


class Connection:
    """Requests to one server, one after another; proxies are left alone: the server is inside.

    Args:
        url: `http://` or `https://`, with a path in front of ours where there is one.

    Raises:
        ValueError: the URL is of another kind.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server; it must begin with http(s)://.")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._lock = threading.Lock()
        self._http: http.client.HTTPConnection | None = None

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """Send a request and read the answer.

        A kept connection that the server has closed meanwhile is opened again, and the request sent
        again: all our requests may come twice.

        Raises:
            OSError: no connection, or none that lasts; also time-outs.
            http.client.HTTPException: the answer is not HTTP.
        """
        with self._lock:
            was_open = self._http is not None
            try:
                return self._exchange(path, body, headers)
            except (ConnectionError, http.client.BadStatusLine, http.client.CannotSendRequest):
                self._drop()
                if not was_open:
                    raise
            except BaseException:
                self._drop()
                raise
            try:
                return self._exchange(path, body, headers)
            except BaseException:
                self._drop()
                raise

    def close(self) -> None:
        """Close the connection; a later request opens it again."""
        with self._lock:
            self._drop()

    def _exchange(self, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        if self._http is None:
            self._http = self._opened()
        self._http.request("POST", self._prefix + path, body, dict(headers))
        answer = self._http.getresponse()
        data = answer.read(MAX_ANSWER_BYTES)
        if not answer.isclosed() or answer.will_close:
            self._drop()
        return Response(
            status=answer.status,
            content_type=answer.headers.get("Content-Type", ""),
            retry_after=answer.headers.get("Retry-After", ""),
            body=data,
        )

    def _opened(self) -> http.client.HTTPConnection:
        made: http.client.HTTPConnection
        if self._secure:
            context = ssl.create_default_context()
            made = http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=context
            )
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        made.connect()
        made.sock.settimeout(ANSWER_SECONDS)
        return made

    def _drop(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None
