"""Every command that speaks to the service, against every way in which a service does not do as it is asked."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from safehold.api_client import ApiClient
from tests.safehold.cli.conftest import Command
from tests.safehold.cli.tree import Leaf, online

PAGE = "<!doctype html><html><body>hello</body></html>"
FINDING = {
    "code": "TOK-1.lock",
    "severity": "fail",
    "message": "Another tokenizer.",
    "evidence": {},
    "advice": "",
}
Answer = Callable[[httpx.Request], httpx.Response]


def problem(status: int, **more: object) -> Answer:
    body = {"title": "No", "status": status, "detail": f"Refused with {status}.", **more}
    headers = {"Content-Type": "application/problem+json"}
    return lambda request: httpx.Response(status, content=json.dumps(body), headers=headers)


def page(status: int, headers: dict[str, str] | None = None) -> Answer:
    return lambda request: httpx.Response(status, text=PAGE, headers=headers)


def away(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("[Errno 111] Connection refused")


def slow(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("timed out")


FIELD = [{"field": "name", "message": "It is missing."}]
CASES: dict[str, tuple[Answer, str]] = {
    **{str(code): (problem(code), f"Refused with {code}.") for code in (400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 429, 500, 503)},
    "hint": (problem(409, hint="Stop it first."), "Refused with 409. Stop it first."),
    "422 of a field": (problem(422, errors=FIELD), "Refused with 422. name: It is missing."),
    "422 without fields": (problem(422), "Refused with 422."),
    "422 with odd findings": (problem(422, findings="many"), "Refused with 422."),
    "429 of a proxy": (page(429, {"Retry-After": "7"}), "answers 429 Too Many Requests, not as Safehold does. Is the address right? Try again in 7 s."),
    "page": (page(200), "did not answer with an object"),
    "page of 404": (page(404), "answers 404 Not Found, not as Safehold does. Is the address right?"),
    "page of 502": (page(502), "answers 502 Bad Gateway, not as Safehold does. Is the service up?"),
    "moved": (page(302, {"Location": "/sign-in"}), "answers 302 Found, not as Safehold does."),
    "list": (lambda request: httpx.Response(200, json=[1]), "did not answer with an object"),
    "empty object": (lambda request: httpx.Response(200, json={}), ""),
    "away": (away, "does not answer: [Errno 111] Connection refused. Is the service up"),
    "slow": (slow, "does not answer: timed out."),
}  # fmt: skip


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Have a service that gives one answer to everything."""

    def serve(answer: Answer) -> None:
        def client(cls: type[ApiClient]) -> ApiClient:
            return ApiClient("http://safehold.test", "shp_x", transport=httpx.MockTransport(answer))

        monkeypatch.setattr(ApiClient, "from_environment", classmethod(client))

    return serve


each = pytest.mark.parametrize("leaf", online(), ids=lambda leaf: leaf.name)


@each
def test_what_is_refused_is_one_line_and_2(
    leaf: Leaf, safehold: Command, answering: Callable[[Answer], None], tmp_path: Path
) -> None:
    call = leaf.call(tmp_path)
    for name, (answer, sentence) in CASES.items():
        if name in {"page", "list", "empty object"} and leaf.name in WITHOUT_OBJECT:
            continue
        answering(answer)
        for words in (call, [*call, "--json"]):
            ran = safehold(*words)
            if name == "empty object" and ran.code == 0:  # nothing of it is shown
                continue
            assert ran.code == 2, (name, words, ran)
            assert ran.out == "" or name == "empty object", (name, words, ran)
            assert ran.err.startswith("safehold: "), (name, words, ran)
            assert ran.err.count("\n") == 1, (name, words, ran)
            assert sentence in ran.err, (name, words, ran)


# They hand on what comes, or look at nothing of it.
WITHOUT_OBJECT = {"audit export", "card export"}


@each
def test_findings_of_a_check_are_printed_with_1(
    leaf: Leaf, safehold: Command, answering: Callable[[Answer], None], tmp_path: Path
) -> None:
    if leaf.name == "audit export":  # writes a file and asks for no check
        return
    answering(problem(422, findings=[FINDING], errors=FIELD))
    ran = safehold(*leaf.call(tmp_path), "--json")
    assert (ran.code, ran.document["verdict"], ran.document["findings"]) == (1, "fail", [FINDING])
    assert ran.err == ""
    assert (
        "✗ fail    TOK-1.lock  Another tokenizer." in safehold(*leaf.call(tmp_path)).out
        or leaf.name == "run export"
    )


def test_an_address_or_token_that_cannot_be_one_is_told(
    safehold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFEHOLD_TOKEN", "shp_x")
    for url, sentence in (
        ("localhost:8000", "is no address of a service"),
        ("http://[::1", "cannot be called"),
        ("http://a\x01b", "cannot be called"),
    ):
        monkeypatch.setenv("SAFEHOLD_URL", url)
        ran = safehold("run", "list")
        assert (ran.code, sentence in ran.err, ran.err.count("\n")) == (2, True, 1), ran
    monkeypatch.setenv("SAFEHOLD_URL", "http://127.0.0.1:9")
    for token in ("shp_ü", "shp_a b", "shp_a\nX-Evil: 1"):
        monkeypatch.setenv("SAFEHOLD_TOKEN", token)
        ran = safehold("run", "list")
        assert (ran.code, "no token has" in ran.err, token in ran.err) == (2, True, False)


ASKING = [leaf for leaf in online() if "--yes" in {name for one in leaf.click.params for name in one.opts}]  # fmt: skip


def test_what_cannot_be_taken_back_asks() -> None:
    assert {leaf.name for leaf in ASKING} == {"run delete", "config approve", "cluster remove", "member remove", "token revoke"}  # fmt: skip


@pytest.mark.parametrize("leaf", ASKING, ids=lambda leaf: leaf.name)
def test_where_nobody_can_be_asked_yes_is_needed(
    leaf: Leaf,
    safehold: Command,
    answering: Callable[[Answer], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        return httpx.Response(200, json={"name": "a", "delete_after": None})

    answering(answer)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))  # a pipe that says yes is no person
    words = [word for word in leaf.call(tmp_path) if word != "--yes"]
    ran = safehold(*words, "--json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "say --yes" in ran.err
    assert set(asked) <= {"GET"}
