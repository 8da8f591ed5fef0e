"""Requests to the control plane, and what their failures mean."""

from __future__ import annotations

import http.client
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safehold import wire
from safehold.connection import Connection, Response
from safehold.environment import Environment, read_line

# What may pass by itself: time-outs, throttling, a proxy without a server behind it.
_PASSING = {404, 408, 425, 429}
MAX_WAIT_SECONDS = 10.0


class Unreachable(Exception):
    """The server did not answer, or not now; trying again can help.

    Attributes:
        retry_after_seconds: What the server asked for, or 0.
    """

    def __init__(self, reason: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class Denied(Exception):
    """The token is not known or has ended; trying again cannot help."""


class Rejected(Exception):
    """The server understood and said no.

    Attributes:
        status: HTTP status, 4xx.
        problem: The problem document, or an empty map.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        detail = problem.get("detail") or problem.get("title") or "no reason given"
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.problem = problem


class Transport:
    """One kept connection to the control plane with the token of the attempt.

    Args:
        url: Base address of the control plane.
        token: Of the attempt.
        token_file: Where a token is read anew that is no longer taken.
        url_file: Looked at before every message, as the control plane may come back elsewhere.
    """

    def __init__(
        self,
        url: str,
        token: str,
        token_file: Path | None = None,
        url_file: Path | None = None,
    ) -> None:
        self._token = token.strip()
        self._token_file = token_file
        self._url, self._url_file = url, url_file
        self._connection = Connection(url)

    @classmethod
    def of(cls, environment: Environment) -> Transport:
        """Return the transport of an attempt."""
        return cls(environment.url, environment.token, environment.token_file, environment.url_file)

    def post(
        self,
        path: str,
        body: bytes,
        *,
        content_type: str = wire.CONTENT_MSGPACK,
        encoding: str = "",
    ) -> dict[str, Any]:
        """Send a message and return the map of the answer.

        Raises:
            Unreachable: no answer, 429, 5xx, or an answer that is none of ours.
            Denied: 401 or 403.
            Rejected: any other 4xx.
        """
        self.follow()
        response = self._send(path, body, content_type, encoding)
        if response.status == 401 and self._fresh_token():
            response = self._send(path, body, content_type, encoding)
        return _judge(response)

    def follow(self) -> bool:
        """Go where the file of the address points; return whether that is elsewhere than before."""
        url = read_line(self._url_file).rstrip("/")
        if not url or url == self._url:
            return False
        try:
            moved = Connection(url)
        except ValueError:  # half a file, or not ours: the address we have stands
            return False
        self._connection.close()
        self._url, self._connection = url, moved
        return True

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _send(self, path: str, body: bytes, content_type: str, encoding: str) -> Response:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content_type}
        if encoding:
            headers["Content-Encoding"] = encoding
        try:
            return self._connection.post(path, body, headers)
        except ValueError:  # its words, and those it came from, may quote the token
            raise Unreachable(
                "the request cannot be sent: address or token hold what HTTP cannot carry"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error

    def _fresh_token(self) -> bool:
        token = read_line(self._token_file)
        changed = bool(token) and token != self._token
        self._token = token or self._token
        return changed


def wait_seconds(failures: int, retry_after_seconds: float = 0.0) -> float:
    """Return how long to wait after so many failures in a row: growing, bounded, spread out.

    Jitter keeps the ranks of a large run from coming back in one wave.
    """
    ceiling = min(MAX_WAIT_SECONDS, 0.25 * 2.0 ** min(failures, 10))
    return max(retry_after_seconds, ceiling * random.uniform(0.5, 1.0))


def _judge(response: Response) -> dict[str, Any]:
    status = response.status
    if status in (401, 403):
        raise Denied(f"{status}: {_text(response)}")
    if status in _PASSING or status >= 500:
        raise Unreachable(f"the server answered {status}", _retry_after(response))
    data = _map_of(response)
    if 200 <= status < 300:
        if data is None:
            raise Unreachable(f"the server answered {status} with something that is not ours")
        return data
    if status < 400:
        raise Unreachable(f"the server answered {status}; is SAFEHOLD_URL right?")
    raise Rejected(status, data or {"detail": _text(response)})


def _text(response: Response) -> str:
    return response.body[:500].decode(errors="replace")


def _map_of(response: Response) -> dict[str, Any] | None:
    try:
        return wire.read_map(response.body, response.content_type)
    except wire.WireError:
        return None


def _retry_after(response: Response) -> float:
    try:
        return min(60.0, max(0.0, float(response.retry_after)))
    except ValueError:
        return 0.0
