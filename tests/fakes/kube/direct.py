"""The fake API server without its HTTP: the same requests, answers and faults, a hundred times as fast."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import urllib3

from tests.fakes.kube.answers import Refused
from tests.fakes.kube.server import ApiServer, Request, _Handler
from workers.kube import errors
from workers.kube.api import Kube
from workers.kube.connecting import Credentials


class DirectKube(Kube):
    """A client that calls the server's handlers; what it answers is written out and read again."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(Credentials())
        handler = type("Direct", (_Handler,), {"api": server})
        self._handler: Any = handler.__new__(handler)
        self._server = server

    def _answer(
        self, method: str, path: str, what: str, query: Mapping[str, str], body: Any,
        content_type: str, read_seconds: float,
    ) -> Any:  # fmt: skip
        asked = {key: value for key, value in query.items() if value}
        request = Request(method, path, asked, _copy(body), content_type)
        try:
            self._handler._route(request)
            self._server.requests.append(request)
            fault = self._handler._fault(request)
            if fault and fault.is_dropped_before:
                raise _broken(f"{path}?{urlencode(asked)}", what)
            if fault and fault.before:
                raise fault.before
            _, answer = self._handler._answer(request)
            if fault and fault.is_dropped_after:
                raise _broken(path, what)
        except Refused as refused:
            text = refused.body if isinstance(refused.body, str) else json.dumps(refused.body)
            headers = {key.lower(): value for key, value in (refused.headers or {}).items()}
            raise errors.from_answer(refused.code, text, headers, what) from refused
        return SimpleNamespace(data=json.dumps(answer).encode())


def _copy(body: Any) -> Any:
    return None if body is None else json.loads(json.dumps(body))


def _broken(path: str, what: str) -> errors.KubeError:
    return errors.from_exception(
        urllib3.exceptions.ProtocolError(f"Connection broken: {path}"), what
    )
