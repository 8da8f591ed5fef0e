import json
from pathlib import Path

import httpx
import pytest

from safehold.api_client import ApiClient, ApiError
from safehold.api_errors import unanswered
from safehold.api_place import DEFAULT_URL
from safehold.query import RunView


def client_of(*answers: httpx.Response) -> tuple[ApiClient, list[httpx.Request]]:
    seen: list[httpx.Request] = []
    left = iter(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return next(left)

    return ApiClient("http://safehold.test/", "shp_x", transport=httpx.MockTransport(answer)), seen


def test_calls_carry_the_token_and_only_given_parameters() -> None:
    client, seen = client_of(httpx.Response(200, json={"items": [], "next": None}))
    client.page("runs", project=None, limit=5)
    assert str(seen[0].url) == "http://safehold.test/api/v1/runs?limit=5"
    assert seen[0].headers["Authorization"] == "Bearer shp_x"


def test_all_follows_the_cursor() -> None:
    client, seen = client_of(
        httpx.Response(200, json={"items": [{"id": 2}], "next": "c"}),
        httpx.Response(200, json={"items": [{"id": 1}], "next": None}),
    )
    assert [one["id"] for one in client.all("runs")] == [2, 1]
    assert seen[1].url.params["cursor"] == "c"


def test_names_may_be_repeated() -> None:
    client, seen = client_of(httpx.Response(200, json={}))
    client.get("runs/1/metrics", names=["a,b", "c"])
    assert seen[0].url.params.get_list("names") == ["a,b", "c"]


def test_a_create_has_a_key_of_its_own_or_the_one_given() -> None:
    client, seen = client_of(*[httpx.Response(201, json={"id": 1})] * 3)
    for key in ("", "", "mine"):
        client.create("runs", {"config": 1}, key=key)
    keys = [request.headers["Idempotency-Key"] for request in seen]
    assert keys[2] == "mine"
    assert len(set(keys)) == 3
    assert json.loads(seen[0].content) == {"config": 1}


def test_a_problem_becomes_an_error_with_its_hint() -> None:
    problem = {"title": "Conflict", "status": 409, "detail": "It runs.", "hint": "Stop it."}
    client, _ = client_of(httpx.Response(409, json=problem))
    with pytest.raises(ApiError, match=r"It runs\. Stop it\.") as caught:
        client.act("runs", 1, "launch")
    assert (caught.value.status, caught.value.problem) == (409, problem)


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, text="hello"), httpx.Response(200, json=[1])]
)
def test_an_answer_that_is_no_object_is_an_error(answer: httpx.Response) -> None:
    client, _ = client_of(answer)
    with pytest.raises(ApiError, match="did not answer with an object"):
        client.get("runs/1")


def test_the_environment_names_service_and_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAFEHOLD_HOME", str(tmp_path))
    with pytest.raises(ApiError, match="No token"):
        ApiClient.from_environment()
    (tmp_path / "token").write_text("shp_home\n")
    assert ApiClient.from_environment().url == DEFAULT_URL
    (tmp_path / "up.lock").write_text('{"pid": 1, "url": "http://127.0.0.1:8123"}')
    assert ApiClient.from_environment().url == "http://127.0.0.1:8123"
    (tmp_path / "up.lock").write_text("")
    assert ApiClient.from_environment().url == DEFAULT_URL
    monkeypatch.setenv("SAFEHOLD_URL", "http://elsewhere/")
    assert ApiClient.from_environment().url == "http://elsewhere"


def test_a_named_token_file_wins_over_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("shp_mine")
    monkeypatch.setenv("SAFEHOLD_TOKEN_FILE", str(tmp_path / "mine"))
    client = ApiClient.from_environment()
    assert client._http.headers["Authorization"] == "Bearer shp_mine"


def test_a_refusal_names_field_and_reason_once() -> None:
    def told(**problem: object) -> str:
        client, _ = client_of(
            httpx.Response(422, json={"title": "Invalid", "status": 422, **problem})
        )
        with pytest.raises(ApiError) as caught:
            client.create("cards", {})
        return str(caught.value)

    one = [{"field": "points", "message": "points is 5."}]
    assert told(detail="points is 5.", errors=one) == "points is 5."
    assert told(detail="No.", errors=one) == "No. points: points is 5."
    many = [{"field": f"f{n}", "message": "Wrong."} for n in range(7)]
    assert told(detail="No.", errors=many).endswith("f4: Wrong; and 2 more.")
    assert told(detail="No.", errors="odd", hint="Mend it.") == "No. Mend it."


def test_a_change_carries_the_version_that_was_read() -> None:
    client, seen = client_of(*[httpx.Response(200, json={})] * 2)
    client.change("cards", 3, {"name": "a"}, version="v1")
    client.change("rulebook", "a/b", {})
    assert [request.headers.get("If-Match") for request in seen] == ['"v1"', None]
    assert seen[1].url.raw_path == b"/api/v1/rulebook/a%2Fb"


def test_the_page_of_the_client_names_every_method() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/python.md").read_text()
    for kind, name in ((ApiClient, "client"), (RunView, "run")):
        for method in vars(kind):
            if not method.startswith("_") and callable(getattr(kind, method)) and method != "of":
                assert f"{name}.{method}(" in page or f"{kind.__name__}.{method}(" in page, method


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)",
            "The certificate of https://a is not trusted: certificate has expired.",
        ),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)", "https://a does not speak TLS"),
        ("timed out", "https://a does not answer: timed out."),
    ],
)  # fmt: skip
def test_what_keeps_an_answer_away_is_said_in_words(why: str, told: str) -> None:
    assert str(unanswered("https://a", OSError(why))).startswith(told)
