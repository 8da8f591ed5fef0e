"""The HTTP face: paths, verbs, patches, dry run, preconditions, watches, logs and scripted faults."""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.kube import admission, answers
from tests.fakes.kube.patching import merge_patch
from tests.fakes.kube.resources import BUILT_IN, CUSTOM, Resource
from tests.fakes.kube.selectors import matcher
from tests.fakes.kube.store import Store, now_text

Json = dict[str, Any]


@dataclass
class Request:
    """One request as the handlers see it."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    content_type: str
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def is_dry(self) -> bool:
        options = self.body if isinstance(self.body, dict) else {}
        return self.query.get("dryRun") == "All" or options.get("dryRun") == ["All"]


@dataclass
class Fault:
    """Something that goes wrong for the next `times` requests that `matches`.

    `before` refuses the request; `after` carries it out and then drops the connection unanswered.
    """

    matches: Callable[[Request], bool]
    times: int = 1
    before: answers.Refused | None = None
    is_dropped_after: bool = False
    is_dropped_before: bool = False


@dataclass
class ApiServer:
    """A running API server over one store; requests are counted by `METHOD plural`."""

    store: Store
    logs: Callable[[str, str, str], bytes | None]
    custom_groups: frozenset[str] = frozenset()
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    open_sockets: set[socket.socket] = field(default_factory=set)
    _http: ThreadingHTTPServer | None = None
    _port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def resources(self) -> tuple[Resource, ...]:
        return (*BUILT_IN, *(r for r in CUSTOM if r.group in self.custom_groups))

    def start(self) -> None:
        """Listen; after a `stop` on the same port again, as a restarted server."""
        server = type("Server", (ThreadingHTTPServer,), {"daemon_threads": True})
        handler = type("Handler", (_Handler,), {"api": self})
        self._http = server(("127.0.0.1", self._port), handler)
        self._port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections and cut the open ones."""
        if self._http is not None:
            http, self._http = self._http, None
            http.shutdown()
            http.server_close()
            for connection in list(self.open_sockets):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @property
    def is_up(self) -> bool:
        return self._http is not None

    def count(self, method: str, plural: str) -> int:
        """How many such requests came."""
        return sum(
            r.method == method and r.resource is not None and r.resource.plural == plural
            for r in self.requests
        )


class _Handler(BaseHTTPRequestHandler):
    api: ApiServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.api.open_sockets.add(self.connection)

    def finish(self) -> None:
        self.api.open_sockets.discard(self.connection)
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *args: object) -> None:
        """Keep quiet."""

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        request = self._parse(raw)
        try:
            self._route(request)
            self.api.requests.append(request)
            fault = self._fault(request)
            if fault and fault.is_dropped_before:
                self._drop()
                return
            if fault and fault.before:
                raise fault.before
            code, answer = self._answer(request)
            if fault and fault.is_dropped_after:
                self._drop()
                return
            if answer is not None:
                self._send(code, answer)
        except answers.Refused as refused:
            self._send(refused.code, refused.body, refused.headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _parse(self, raw: bytes) -> Request:
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        content_type = (self.headers.get("Content-Type") or "").split(";")[0]
        body = json.loads(raw) if raw else None
        return Request(self.command, parts.path, query, body, content_type)

    def _route(self, request: Request) -> None:
        steps = [step for step in request.path.split("/") if step]
        group, version, rest = "", "v1", steps[2:]
        if steps[:1] == ["apis"] and len(steps) >= 3:
            group, version, rest = steps[1], steps[2], steps[3:]
        elif steps[:1] != ["api"] or len(steps) < 2:
            return
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            request.namespace, rest = rest[1], rest[2:]
        if not rest:
            return
        for resource in self.api.resources:
            if (resource.group, resource.version, resource.plural) == (group, version, rest[0]):
                request.resource = resource
                request.name = rest[1] if len(rest) > 1 else ""
                request.subresource = rest[2] if len(rest) > 2 else ""
                return
        raise answers.Refused(404, "404 page not found\n")

    def _fault(self, request: Request) -> Fault | None:
        for fault in self.api.faults:
            if fault.times > 0 and fault.matches(request):
                fault.times -= 1
                return fault
        return None

    def _answer(self, request: Request) -> tuple[int, Any]:
        if request.resource is None:
            return 200, self._discovery(request)
        if request.subresource == "log":
            return self._log(request)
        verb = {"GET": self._get, "POST": self._create, "PUT": self._replace}
        verb |= {"PATCH": self._patch, "DELETE": self._delete}
        return verb[request.method](request)

    def _discovery(self, request: Request) -> Any:
        if request.path == "/version":
            return {"major": "1", "minor": "36", "gitVersion": "v1.36.2"}
        if request.path == "/apis":
            groups = sorted({r.group for r in self.api.resources if r.group})
            return {"kind": "APIGroupList", "groups": [{"name": name} for name in groups]}
        if request.path in {"/readyz", "/healthz", "/livez"}:
            return "ok"
        raise answers.Refused(404, "404 page not found\n")

    def _get(self, request: Request) -> tuple[int, Any]:
        resource = _of(request)
        if request.name:
            return 200, self.api.store.get(resource, request.namespace, request.name)
        matches = matcher(
            request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
        )
        if request.query.get("watch") in {"1", "true", "True"}:
            self._watch(request, matches)
            return 200, None
        with self.api.store.changed:
            items = self.api.store.list(resource.plural, request.namespace, matches)
            version = str(self.api.store.version)
        page, metadata = self._page(request, items, version)
        return 200, {
            "apiVersion": resource.api_version, "kind": f"{resource.kind}List",
            "metadata": metadata, "items": page,
        }  # fmt: skip

    def _page(self, request: Request, items: list[Json], version: str) -> tuple[list[Json], Json]:
        """Return one page and what names the next; a page of a moment that is forgotten is 410."""
        limit, begun = int(request.query.get("limit") or 0), request.query.get("continue")
        if begun:
            version, _, start = begun.partition("/")
            if int(version) < self.api.store.oldest:
                message = "The provided continue parameter is too old to display a consistent list result."
                raise answers.status(410, "Expired", message)
        first = int(begun.partition("/")[2]) if begun else 0
        metadata: Json = {"resourceVersion": version}
        if limit and first + limit < len(items):
            metadata["continue"] = f"{version}/{first + limit}"
            metadata["remainingItemCount"] = len(items) - first - limit
        return items[first : first + limit] if limit else items, metadata

    def _watch(self, request: Request, matches: Callable[[Json], bool]) -> None:
        resource, api = _of(request), self.api
        since = int(request.query.get("resourceVersion") or api.store.version)
        ends_at = time.monotonic() + float(request.query.get("timeoutSeconds") or 1800)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

        def is_over() -> bool:
            return time.monotonic() > ends_at or not api.is_up

        try:
            changes = api.store.watch(resource.plural, request.namespace, matches, since, is_over)
            for change in changes:
                self._chunk({"type": change.type, "object": change.object})
            if api.is_up and request.query.get("allowWatchBookmarks") == "true":
                self._bookmark(resource)
        except answers.Refused as refused:
            self._chunk({"type": "ERROR", "object": refused.body})
        if api.is_up:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._drop()

    def _bookmark(self, resource: Resource) -> None:
        metadata = {"resourceVersion": str(self.api.store.version)}
        item = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        self._chunk({"type": "BOOKMARK", "object": item})

    def _create(self, request: Request) -> tuple[int, Any]:
        resource = _of(request)
        self._need_namespace(request)
        is_strict = request.query.get("fieldValidation") == "Strict"
        item = admission.admit(resource, request.body, is_strict=is_strict)
        created = self.api.store.create(resource, request.namespace, item, dry_run=request.is_dry)
        return 201, created

    def _need_namespace(self, request: Request) -> None:
        resource = _of(request)
        if not resource.is_namespaced:
            return
        spaces = next(r for r in BUILT_IN if r.plural == "namespaces")
        space = self.api.store.get(spaces, "", request.namespace)
        if "deletionTimestamp" in space["metadata"]:
            why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
            raise answers.forbidden(resource, request.body["metadata"].get("name", ""), why)

    def _replace(self, request: Request) -> tuple[int, Any]:
        version = request.body["metadata"].get("resourceVersion", "")
        return self._change(request, lambda _: request.body, version)

    def _patch(self, request: Request) -> tuple[int, Any]:
        resource = _of(request)
        if resource.is_custom and request.content_type == "application/strategic-merge-patch+json":
            raise answers.status(415, "UnsupportedMediaType", "the body of the request was in an unknown format")  # fmt: skip
        version = (request.body.get("metadata") or {}).get("resourceVersion", "")
        return self._change(request, lambda held: merge_patch(held, request.body), version)

    def _change(
        self, request: Request, change: Callable[[Json], Json], version: str
    ) -> tuple[int, Any]:
        resource = _of(request)

        def checked(held: Json) -> Json:
            new = json.loads(json.dumps(change(json.loads(json.dumps(held)))))
            if request.subresource == "status":
                return held | {"status": new.get("status", {})}
            if "status" in held:
                new["status"] = held["status"]
            if resource.plural == "jobs":
                admission.check_job_change(resource, held, new)
            return new

        new = self.api.store.update(
            resource, request.namespace, request.name, checked,
            expected_version=version, dry_run=request.is_dry,
        )  # fmt: skip
        return 200, new

    def _delete(self, request: Request) -> tuple[int, Any]:
        resource, options = _of(request), request.body or {}
        store = self.api.store
        with store.changed:
            held = store.get(resource, request.namespace, request.name)
            self._check_preconditions(resource, held, options.get("preconditions") or {})
            if request.is_dry:
                return 200, held
            return 200, self._carry_out_delete(request, held, options)

    def _check_preconditions(self, resource: Resource, held: Json, wanted: Json) -> None:
        own = held["metadata"]["uid"]
        if wanted.get("uid", own) != own:
            why = f"the UID in the precondition ({wanted['uid']}) does not match the UID in record ({own}). The object might have been deleted and then recreated"
            raise answers.conflict(resource, held["metadata"]["name"], why)

    def _carry_out_delete(self, request: Request, held: Json, options: Json) -> Json:
        """Mark or remove; the controllers take what the mark leaves."""
        resource, store = _of(request), self.api.store
        policy = options.get("propagationPolicy") or request.query.get("propagationPolicy")
        if resource.plural == "jobs" and policy is None:
            policy = "Orphan"
        finalizers = list(held["metadata"].get("finalizers") or [])
        if policy == "Foreground":
            finalizers.append("foregroundDeletion")
        if resource.plural == "pods":
            grace = options.get("gracePeriodSeconds", request.query.get("gracePeriodSeconds"))
            grace = None if grace is None else int(grace)
            if grace is None:
                grace = held["spec"].get("terminationGracePeriodSeconds", 30)
            if grace == 0 or not held["spec"].get("nodeName"):
                if finalizers:
                    return self._mark(request, {"deletionGracePeriodSeconds": 0})
                store.remove(resource, request.namespace, request.name)
                return held
            return self._mark(request, {"deletionGracePeriodSeconds": grace})
        if policy == "Orphan":
            self._orphan(held)
        if finalizers:
            return self._mark(request, {"finalizers": sorted(set(finalizers))})
        store.remove(resource, request.namespace, request.name)
        details = {"kind": resource.plural, "name": request.name, "uid": held["metadata"]["uid"]}
        return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "details": details}  # fmt: skip

    def _mark(self, request: Request, changes: Json) -> Json:
        def mark(held: Json) -> Json:
            held["metadata"].setdefault("deletionTimestamp", now_text())
            held["metadata"] |= changes
            return held

        return self.api.store.update(_of(request), request.namespace, request.name, mark)

    def _orphan(self, owner: Json) -> None:
        pods = next(r for r in BUILT_IN if r.plural == "pods")
        uid = owner["metadata"]["uid"]
        for pod in self.api.store.list("pods", owner["metadata"]["namespace"], lambda _: True):
            refs = pod["metadata"].get("ownerReferences") or []
            if any(ref["uid"] == uid for ref in refs):
                self.api.store.update(
                    pods, pod["metadata"]["namespace"], pod["metadata"]["name"],
                    _without_owner,
                )  # fmt: skip

    def _log(self, request: Request) -> tuple[int, Any]:
        pod = self.api.store.get(_of(request), request.namespace, request.name)
        container = request.query.get("container") or pod["spec"]["containers"][0]["name"]
        text = self.api.logs(request.namespace, request.name, container)
        if text is None:
            message = f'container "{container}" in pod "{request.name}" is waiting to start'
            raise answers.status(400, "BadRequest", message)
        return 200, text.decode("utf-8", "replace")

    def _send(self, code: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        is_text = isinstance(answer, str)
        data = answer.encode() if is_text else json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if is_text else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    def _chunk(self, event: Json) -> None:
        data = json.dumps(event).encode() + b"\n"
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _drop(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _of(request: Request) -> Resource:
    assert request.resource is not None
    return request.resource


def _without_owner(item: Json) -> Json:
    item["metadata"].pop("ownerReferences", None)
    return item
