"""A small client of the HTTP API: what the command line uses, and what a script may.

Public: names here and in `safehold.query` keep their meaning. docs/how-to/query-with-python.md shows them at work.
"""

import codecs
import uuid
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from safehold import api_place
from safehold.api_errors import ApiError, refusal_of, unanswered
from safehold.query import Form, RunView, columns_of_items, framed

__all__ = ["ApiClient", "ApiError", "place"]
TIMEOUT_SECONDS = 30.0
# A proxy of the environment leads elsewhere.
_PAST_PROXIES = {"all://127.0.0.1": None, "all://[::1]": None, "all://localhost": None}


def place(*parts: str | int) -> str:
    """Return the path of an object, whatever characters its name has: `place("clusters", name, "test")`."""
    return "/".join(quote(str(part), safe="") for part in parts)


class ApiClient:
    """Calls `/api/v1` with a personal token.

    Args:
        url: Base address of the control plane.
        token: A personal token.
        transport: Of httpx, for tests.

    Raises:
        ApiError: The address or the token cannot be one.
    """

    def __init__(
        self, url: str, token: str, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise ApiError(f"{url} is no address of a service: it begins with http:// or https://.")
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise ApiError("The token holds characters that no token has: see SAFEHOLD_TOKEN.")
        try:
            self._http = httpx.Client(
                base_url=f"{self.url}/api/v1/",
                headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
                timeout=TIMEOUT_SECONDS,
                transport=transport,
                mounts=_PAST_PROXIES,
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise ApiError(f"{self.url} cannot be called: {error}.") from error

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
                f"No token: {api_place.token_path()} cannot be read or is empty. Run where it can be, "
                "or set SAFEHOLD_TOKEN or SAFEHOLD_TOKEN_FILE."
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
        return self._call("GET", path, params=_given(params))

    def page(self, kind: str, /, **filters: Any) -> dict[str, Any]:
        """Return one page of a list: `items`, and `next`, the cursor of the page after it."""
        return self.get(kind, **filters)

    def all(self, kind: str, /, **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield every item of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.page(kind, cursor=cursor, **filters)
            if "items" not in page:
                raise ApiError(f"{kind} is no list.")
            yield from page["items"]
            cursor = page.get("next")
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

    def frame(self, kind: str, /, *, form: Form = "auto", **filters: Any) -> Any:
        """Return every item of a list as a data frame, one row an item: `frame("runs", state="finished")`.

        Args:
            kind: As of `all`.
            form: `pandas`, `polars`, `columns` (a dict of lists), or `auto`: the first of them that is installed.
            filters: As of `all`.

        Raises:
            ApiError: The service refused, or did not answer.
            ModuleNotFoundError: The form that is asked for needs a package that is not installed.
        """
        return framed(columns_of_items(list(self.all(kind, **filters))), form)

    def download(self, path: str, /, **params: Any) -> Iterator[bytes]:
        """Yield the parts of a file as they come.

        Raises:
            ApiError: The service refused, or did not answer.
        """
        try:
            with self._http.stream("GET", path, params=_given(params)) as response:
                if not response.is_success:
                    response.read()
                    raise refusal_of(response)
                yield from response.iter_bytes()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unanswered(self.url, error) from error

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
        return self._call("POST", f"{kind}/{place(number, verb)}", json=dict(body or {}))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Do something at a path: `post("clusters/lab/test")`."""
        return self._call("POST", path, json=dict(body or {}))

    def remove(self, path: str, /, **params: Any) -> dict[str, Any]:
        """Remove the object at a path; parameters of None are left out."""
        return self._call("DELETE", path, params=_given(params))

    def change(
        self, kind: str, number: int | str, body: Mapping[str, Any], *, version: str = ""
    ) -> dict[str, Any]:
        """Change an object.

        Args:
            kind: `cards`, `runs`, `rulebook` …
            number: Its id or name.
            body: What becomes different.
            version: `version` of the object as it was read: refused with 412 where somebody changed it since. Empty: over
                whatever is there now.
        """
        headers = {"If-Match": f'"{version}"'} if version else {}
        return self._call("PATCH", f"{kind}/{place(number)}", json=dict(body), headers=headers)

    def _call(self, method: str, path: str, **parts: Any) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, **parts)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unanswered(self.url, error) from error
        if response.is_success:
            return _object(response)
        raise refusal_of(response)


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in params.items() if value is not None}


def _object(response: httpx.Response) -> dict[str, Any]:
    if not response.content:
        return {}
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ApiError(
            f"{response.url} did not answer with an object: is it Safehold that answers there?",
            status=response.status_code,
        )
    return body
