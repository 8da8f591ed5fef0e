"""A small client of the HTTP API: what the command line uses, and what a script may.

Public: names here and in `safehold.query` keep their meaning. docs/how-to/query-with-python.md shows them at work.
"""

import codecs
import uuid
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from safehold import api_place
from safehold.query import RunView

TIMEOUT_SECONDS = 30.0


class ApiError(Exception):
    """The service refused, or did not answer.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        problem: The RFC 9457 document, empty where there is none.
    """

    def __init__(
        self, message: str, *, status: int = 0, problem: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = dict(problem or {})


class ApiClient:
    """Calls `/api/v1` with a personal token.

    Args:
        url: Base address of the control plane.
        token: A personal token.
        transport: Of httpx, for tests.
    """

    def __init__(
        self, url: str, token: str, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/",
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=TIMEOUT_SECONDS,
            transport=transport,
        )

    @classmethod
    def from_environment(cls) -> Self:
        """Return a client of the service that the environment or `.safehold/` names.

        Address: SAFEHOLD_URL, else that of the `safehold up` of `.safehold/`. Token: SAFEHOLD_TOKEN, SAFEHOLD_TOKEN_FILE, else
        `.safehold/token`. SAFEHOLD_HOME names another folder than `.safehold`.

        Raises:
            ApiError: No token is found, or its file cannot be read.
        """
        token = api_place.token()
        if not token:
            raise ApiError(
                "No token: set SAFEHOLD_TOKEN or SAFEHOLD_TOKEN_FILE, or run where "
                f"{api_place.home() / 'token'} can be read."
            )
        return cls(api_place.url(), token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, /, **params: Any) -> dict[str, Any]:
        """Return the object at a path, `runs/3/events` for instance; parameters of None are left out."""
        return self._call(
            "GET", path, params={key: value for key, value in params.items() if value is not None}
        )

    def page(self, kind: str, /, **filters: Any) -> dict[str, Any]:
        """Return one page of a list: `items`, and `next`, the cursor of the page after it."""
        return self.get(kind, **filters)

    def all(self, kind: str, /, **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield every item of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.page(kind, cursor=cursor, **filters)
            yield from page["items"]
            cursor = page["next"]
            if not cursor:
                return

    def runs(self, **filters: Any) -> Iterator[RunView]:
        """Yield runs, newest first.

        Args:
            filters: As `GET /runs` takes them: state, name, tag, group, config, card, project, order …
        """
        for facts in self.all("runs", **filters):
            yield RunView.of(facts, self)

    def run(self, number: int) -> RunView:
        """Return one run."""
        return RunView.of(self.get(f"runs/{number}"), self)

    def download(self, path: str, /, **params: Any) -> Iterator[bytes]:
        """Yield the parts of a file as they come.

        Raises:
            ApiError: The service refused, or did not answer.
        """
        known = {key: value for key, value in params.items() if value is not None}
        try:
            with self._http.stream("GET", path, params=known) as response:
                if not response.is_success:
                    response.read()
                    raise _refusal(response)
                yield from response.iter_bytes()
        except httpx.HTTPError as error:
            raise self._unanswered(error) from error

    def lines(self, path: str, /, **params: Any) -> Iterator[str]:
        """Yield the lines of a text file as they come."""
        rest = ""
        reader = codecs.getincrementaldecoder("utf-8")()
        for part in self.download(path, **params):
            *whole, rest = (rest + reader.decode(part)).split("\n")
            yield from (f"{line}\n" for line in whole)
        if rest:
            yield rest

    def create(self, kind: str, body: Mapping[str, Any], *, key: str = "") -> dict[str, Any]:
        """Make an object; a repeated call with the same key makes it once."""
        return self._call(
            "POST", kind, json=dict(body), headers={"Idempotency-Key": key or uuid.uuid4().hex}
        )

    def act(
        self, kind: str, number: int, verb: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Do something with an object: `act("runs", 3, "stop")`."""
        return self._call("POST", f"{kind}/{number}/{verb}", json=dict(body or {}))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Do something at a path: `post("clusters/lab/test")`."""
        return self._call("POST", path, json=dict(body or {}))

    def remove(self, path: str) -> dict[str, Any]:
        """Remove the object at a path."""
        return self._call("DELETE", path)

    def change(self, kind: str, number: int | str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Change an object."""
        return self._call("PATCH", f"{kind}/{number}", json=dict(body))

    def _call(self, method: str, path: str, **parts: Any) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, **parts)
        except httpx.HTTPError as error:
            raise self._unanswered(error) from error
        if response.is_success:
            return _object(response)
        raise _refusal(response)

    def _unanswered(self, error: httpx.HTTPError) -> ApiError:
        why = str(error).rstrip(".")
        return ApiError(f"{self.url} does not answer: {why}. Is the service up (`safehold up`)?")


def _refusal(response: httpx.Response) -> ApiError:
    problem = _problem(response)
    message = str(problem.get("detail") or problem.get("title") or response.reason_phrase)
    hint = f" {problem['hint']}" if problem.get("hint") else ""
    return ApiError(f"{message}{hint}", status=response.status_code, problem=problem)


def _object(response: httpx.Response) -> dict[str, Any]:
    if not response.content:
        return {}
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ApiError(
            f"{response.url} did not answer with an object.", status=response.status_code
        )
    return body


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
