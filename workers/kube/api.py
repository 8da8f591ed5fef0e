"""The sole user of the Kubernetes client: authenticated requests, JSON in and out, errors in our words.

Objects stay plain JSON. The client's typed answers drop fields that it does not know, and building them costs more
than the request for a list of many pods.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import urllib3

from workers.kube import errors
from workers.kube.connecting import Credentials, connect
from workers.kube.kinds import Kind

if TYPE_CHECKING:
    from kubernetes import client

Json = dict[str, Any]
# Every request has a bound: a stopping API server keeps connections open for a minute without a word.
CONNECT_SECONDS = 5.0
READ_SECONDS = 20.0
PROBE_SECONDS = 3.0
PAGE = 500
FIELD_MANAGER = "safehold"
_UNUSABLE = (
    "The address or the token of the cluster cannot be used: one of them holds a line break,"
    " or another character that does not belong there."
)


@dataclass(frozen=True)
class Listing:
    """A list as of one resource version."""

    items: list[Json]
    version: str


class Kube:
    """One cluster, seen from here. Cheap to make; holds one connection pool."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._client: client.ApiClient | None = None

    def list(
        self, kind: Kind, namespace: str = "", *, selector: str = "", fields: str = ""
    ) -> Listing:
        """Return all objects of a kind; "" = of all namespaces.

        Args:
            kind: Of the objects.
            namespace: Where they are.
            selector: By labels.
            fields: By the few fields that a server selects by.

        It is read in pages of one moment. Where that moment is too old for the server before the last page, it is read
        again in one piece: half of one moment and half of another would hide what moved between them.

        Raises:
            KubeError: It cannot be seen.
        """
        query = {"labelSelector": selector, "fieldSelector": fields}
        try:
            return self._pages(kind, namespace, query | {"limit": str(PAGE)})
        except errors.KubeError as error:
            if not error.is_expired:
                raise
        return self._pages(kind, namespace, query)

    def read(self, kind: Kind, namespace: str, name: str) -> Json:
        """Return one object.

        Raises:
            KubeError: It is absent, or cannot be seen.
        """
        what = f"read the {kind.name} {name}"
        return self._json("GET", kind.path(namespace, name), what)

    def create(self, kind: Kind, namespace: str, item: Json, *, is_dry: bool = False) -> Json:
        """Create an object; unknown fields are refused, not dropped.

        Raises:
            KubeError: It was refused, or the answer was lost (`may_have_happened`).
        """
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        if is_dry:
            query["dryRun"] = "All"
        what = f"create the {kind.name} {item['metadata'].get('name', '')}"
        return self._json("POST", kind.path(namespace), what, query=query, body=item)

    def patch(self, kind: Kind, namespace: str, name: str, change: Json) -> Json:
        """Change an object by a merge patch, the one form that every kind knows.

        Raises:
            KubeError: It was refused, is absent, or the answer was lost.
        """
        what = f"change the {kind.name} {name}"
        return self._json(
            "PATCH", kind.path(namespace, name), what,
            query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}, body=change,
            content_type="application/merge-patch+json",
        )  # fmt: skip

    def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str = "",
        is_foreground: bool = False, grace_seconds: int | None = None,
    ) -> bool:  # fmt: skip
        """Delete one object, and always what it owns; return whether it was there.

        With `uid` only that very object is deleted: one that was made anew under the name stays.

        Raises:
            KubeError: It was refused, or cannot be seen.
        """
        options: Json = {"propagationPolicy": "Foreground" if is_foreground else "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        what = f"delete the {kind.name} {name}"
        try:
            self._json("DELETE", kind.path(namespace, name), what, body=options)
        except errors.KubeError as error:
            if error.is_absent or (uid and error.status == 409):
                return False
            raise
        return True

    def watch(
        self, kind: Kind, namespace: str, *, selector: str, version: str, seconds: int
    ) -> Iterator[tuple[str, Json]]:
        """Yield (type, object), bookmarks included, until the server or the time ends it.

        Raises:
            KubeError: The version is too old (`is_expired`), or the connection broke.
        """
        query = {
            "watch": "true", "labelSelector": selector, "resourceVersion": version,
            "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds),
        }  # fmt: skip
        what = f"watch {kind.plural}"
        answer = self._answer("GET", kind.path(namespace), what, query, None, "", seconds + 5.0)
        try:
            for line in _lines(answer):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    body = json.dumps(event["object"])
                    status = int(event["object"].get("code") or 500)
                    raise errors.from_answer(status, body, {}, what)
                yield event["type"], event["object"]
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise errors.from_exception(error, what) from error
        finally:
            answer.close()

    def log(
        self, namespace: str, pod: str, container: str, *, since_seconds: int | None = None,
        limit_bytes: int = 1 << 20,
    ) -> bytes:  # fmt: skip
        """Return what a container printed, with the server's time before each line.

        Raises:
            KubeError: The pod is gone (404) or has not started (400).
        """
        query = {"container": container, "timestamps": "true", "limitBytes": str(limit_bytes)}
        if since_seconds is not None:
            query["sinceSeconds"] = str(since_seconds)
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        answer = self._answer("GET", path, f"read the log of {pod}", query, None, "", READ_SECONDS)
        return bytes(answer.data)

    def groups(self) -> frozenset[str]:
        """Return the API groups that the cluster serves.

        Raises:
            KubeError: They cannot be seen.
        """
        found = self._json("GET", "/apis", "list the API groups")
        return frozenset(group["name"] for group in found.get("groups") or [])

    def version(self) -> str:
        """Return the version of the API server, `v1.36.2`.

        Raises:
            KubeError: It cannot be seen.
        """
        return str(self._json("GET", "/version", "read the version")["gitVersion"])

    def require_answer(self) -> None:
        """Ask for the least that there is, with little patience; whatever is answered is an answer.

        Raises:
            KubeError: None came.
        """
        try:
            self._answer("GET", "/version", "read the version", {}, None, "", PROBE_SECONDS)
        except errors.KubeError as error:
            if not error.status:
                raise

    def _pages(self, kind: Kind, namespace: str, query: dict[str, str]) -> Listing:
        items: list[Json] = []
        while True:
            page = self._json("GET", kind.path(namespace), f"list {kind.plural}", query=query)
            items += page.get("items") or []
            metadata = page.get("metadata") or {}
            if not metadata.get("continue"):
                return Listing(items, str(metadata.get("resourceVersion") or ""))
            query["continue"] = metadata["continue"]

    def _json(
        self, method: str, path: str, what: str, *, query: Mapping[str, str] | None = None,
        body: Json | None = None, content_type: str = "application/json",
    ) -> Json:  # fmt: skip
        answer = self._answer(method, path, what, query or {}, body, content_type, READ_SECONDS)
        try:
            read: Json = json.loads(answer.data)
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise errors.from_exception(error, what) from error
        return read

    def _answer(
        self, method: str, path: str, what: str, query: Mapping[str, str], body: Json | None,
        content_type: str, read_seconds: float,
    ) -> urllib3.BaseHTTPResponse:  # fmt: skip
        """Send, once more with fresh credentials after a 401: mounted tokens are rotated."""
        try:
            return self._send(method, path, what, query, body, content_type, read_seconds)
        except errors.KubeError as error:
            if error.status != 401:
                raise
        self._client = None
        return self._send(method, path, what, query, body, content_type, read_seconds)

    def _send(
        self, method: str, path: str, what: str, query: Mapping[str, str], body: Json | None,
        content_type: str, read_seconds: float,
    ) -> urllib3.BaseHTTPResponse:  # fmt: skip
        # Threads share it, and one that is refused puts it away.
        connected = self._client = self._client or connect(self._credentials)
        asked = {key: value for key, value in query.items() if value}
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        request = connected.param_serialize(
            method, path, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        url = request[1] + (f"?{urlencode(asked)}" if asked else "")
        rest: Any = connected.rest_client
        try:
            answer = rest.request(
                method, url, headers=request[2], body=request[3],
                _request_timeout=(min(CONNECT_SECONDS, read_seconds), read_seconds),
            ).response  # fmt: skip
        except (urllib3.exceptions.HTTPError, OSError, errors.api_exception()) as error:
            raise errors.from_exception(error, what) from error
        except ValueError:
            # What is said of it holds the token.
            raise errors.KubeError(_UNUSABLE) from None
        if not 200 <= answer.status <= 299:
            text = _text(answer, what)
            found = {key.lower(): value for key, value in answer.headers.items()}
            raise errors.from_answer(answer.status, text, found, what)
        return cast("urllib3.BaseHTTPResponse", answer)


def _text(answer: urllib3.BaseHTTPResponse, what: str) -> str:
    try:
        return bytes(answer.data).decode("utf-8", "replace")
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise errors.from_exception(error, what) from error


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for piece in answer.stream(65536, decode_content=True):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line for line in lines if line.strip())
