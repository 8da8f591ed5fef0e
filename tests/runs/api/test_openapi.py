"""What holds for every operation of the API, taken from its own OpenAPI document: a new one is held to it by being there."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.test import Client
from openapi_spec_validator import validate

from controlplane.api import api
from controlplane.common.api.openapi import PROBLEM
from tests.factories import make_user
from tests.runs.api.callers import Api

DOCUMENT: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix="")))
Operation = tuple[str, str, dict[str, Any]]
# Asked for twice, these do the same as once: a cluster is renewed under its name, an open request is returned.
REPEATABLE = {
    "POST /clusters",
    "POST /configs/{config_id}/request-approval",
}


def operations() -> Iterator[Operation]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


ALL = list(operations())
NAMES = [f"{method.upper()} {path}" for method, path, _ in ALL]
each = pytest.mark.parametrize(("method", "path", "operation"), ALL, ids=NAMES)


@pytest.fixture
def root(db: None) -> Api:
    """An administrator, so that no refusal is for want of a role."""
    return Api(make_user(is_superuser=True))


def call(client: Client, method: str, path: str, body: bytes = b"{}") -> Any:
    """Call an operation on objects that are not there."""
    address = "/api/v1" + re.sub(r"\{\w*(id|run)\}", "987654321", path)
    address = re.sub(r"\{\w+\}", "no-such-name", address)
    return client.generic(method.upper(), address, body, content_type="application/json")


def refusal(answer: Any, *statuses: int) -> dict[str, Any]:
    """Return the problem document of a refusal."""
    assert answer.status_code in statuses, (answer.status_code, answer.content[:300])
    assert answer["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = json.loads(answer.content)
    jsonschema.validate(document, PROBLEM)
    assert document["status"] == answer.status_code
    return document


def test_the_document_is_valid() -> None:
    validate(DOCUMENT)


def test_the_served_document_is_the_same() -> None:
    served = Client().get("/api/v1/openapi.json").json()
    assert {path.removeprefix("/api/v1") for path in served["paths"]} == set(DOCUMENT["paths"])
    validate(served)


@pytest.mark.django_db
@each
def test_a_stranger_is_refused(method: str, path: str, operation: dict[str, Any]) -> None:
    refusal(call(Client(), method, path), 401)


@each
def test_what_is_not_there_is_a_problem(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    if "{" in path:
        refusal(call(root.client, method, path), 404, 409, 422)


@each
def test_a_body_that_is_no_object_is_refused(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    if "requestBody" not in operation:
        return
    for body in (b"{", b"[]", b'"a"', b"\xff"):
        refusal(call(root.client, method, path, body), 400)


@each
def test_a_field_that_is_not_known_is_named(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    if "requestBody" not in operation:
        return
    document = refusal(call(root.client, method, path, b'{"nonsense": 1}'), 422)
    assert "nonsense" in [one["field"] for one in document["errors"]]


@each
def test_an_unknown_method_is_a_problem(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    answer = call(root.client, "put", path)
    refusal(answer, 405)
    assert answer["Allow"]


@each
def test_every_operation_says_what_it_does(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    assert operation["summary"]
    assert operation["description"].endswith((".", ")"))
    assert "default" in operation["responses"]


def _answer_of(operation: dict[str, Any]) -> dict[str, Any]:
    content = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = DOCUMENT["components"]["schemas"].get(name, {})
    return found


@each
def test_every_list_pages_by_key(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    answer = _answer_of(operation).get("properties", {})
    if method != "get" or "items" not in answer:
        return
    following = json.dumps(answer.get("next"))
    if '"string"' not in following:  # a list that is short by nature says that nothing follows
        return
    assert {"cursor", "limit"} <= {one["name"] for one in operation["parameters"]}
    if "{" in path:
        return
    for query in ("limit=0", "limit=100000", "nonsense=1"):
        answer = root.client.get(f"/api/v1{path}?{query}")
        assert [one["field"] for one in refusal(answer, 422)["errors"]] == [query.split("=")[0]]
    for cursor in ("broken", "WzEsIDFd%00", "9" * 30, "W3RydWUsIHRydWVd", "WyJcdWQ4MDAiLCAxXQ=="):
        answer = root.client.get(f"/api/v1{path}?limit=1&cursor={cursor}")
        if "%00" in cursor:
            refusal(answer, 400)
        else:
            assert [one["field"] for one in refusal(answer, 422)["errors"]] == ["cursor"]


@each
def test_every_create_can_be_repeated(method: str, path: str, operation: dict[str, Any]) -> None:
    if "201" not in operation["responses"] or f"{method.upper()} {path}" in REPEATABLE:
        return
    assert "Idempotency-Key" in {one["name"] for one in operation["parameters"]}
    view = next(one for one in _views() if one[:2] == (method, path))[2]
    assert "once(" in inspect.getsource(view), (
        f"{view.__name__} makes a second object of a repeated request"
    )


@each
def test_every_change_can_ask_that_nobody_else_changed_it(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    if method != "patch":
        return
    assert "If-Match" in {one["name"] for one in operation["parameters"]}
    assert "412" in operation["responses"]
    view = next(one for one in _views() if one[:2] == (method, path))[2]
    assert "seen_version(" in inspect.getsource(view), f"{view.__name__} writes over what it is"


@each
def test_a_body_of_another_type_is_refused(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    if method == "get":
        return
    address = "/api/v1" + re.sub(r"\{\w+\}", "1", path)
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=utf-16",
    ):
        refusal(root.client.generic(method.upper(), address, b"{}", content_type=kind), 415)


@each
def test_a_form_of_another_site_is_refused_in_a_session(
    root: Api, method: str, path: str, operation: dict[str, Any]
) -> None:
    if method == "get":
        return
    browser = Client(raise_request_exception=False)
    browser.force_login(root.user)  # as a browser that checks nothing: CSRF is switched off in it
    address = "/api/v1" + re.sub(r"\{\w+\}", "1", path)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        for body in (b"", b'{"a": 1}'):
            answer = browser.generic(
                method.upper(), address, body, content_type=kind, CONTENT_TYPE=kind
            )
            refusal(answer, 415)


def _views() -> Iterator[tuple[str, str, Any]]:
    for prefix, router in api._routers:
        for path, view in router.path_operations.items():
            whole = "/" + "/".join(filter(None, [*prefix.split("/"), *path.split("/")]))
            for operation in view.operations:
                for method in operation.methods:
                    yield method.lower(), whole, operation.view_func


@pytest.mark.django_db
def test_a_host_that_is_none_of_ours_gets_a_problem_too() -> None:
    answer = Client(raise_request_exception=False).get("/api/v1/runs", headers={"Host": "a_b!"})
    assert "does not answer under the name a_b!" in refusal(answer, 400)["detail"]


@pytest.mark.django_db
def test_what_breaks_outside_of_an_operation_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("controlplane.api.refuse_unknown", broken)
    browser = Client(raise_request_exception=False)
    assert refusal(browser.get("/api/v1/runs"), 500)["type"] == "urn:safehold:problem:internal"


@pytest.mark.parametrize("kind", ["card", "cards"])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(root: Api, kind: str) -> None:
    path = "/api/v1/cards" if kind == "cards" else "/api/v1/runs/1/archive"
    answer = root.client.generic(
        "POST", path, b"{}", content_type="application/json", CONTENT_LENGTH=str(3 << 20)
    )
    refusal(answer, 413)


def test_a_length_of_thousands_of_digits_is_no_length(root: Api) -> None:
    answer = root.client.generic(
        "POST", "/api/v1/cards", b"{}", content_type="application/json", CONTENT_LENGTH="9" * 5000
    )
    assert "Content-Length" in refusal(answer, 400)["detail"]
