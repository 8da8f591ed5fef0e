"""Who may call, and how a refusal reads."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import Project
from tests.factories import make_run
from tests.runs.api.callers import Api


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert {"type", "title", "detail"} <= document.keys()
    return document


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", [{}, {"Authorization": "Bearer shp_nope"}, {"Authorization": "Basic YTpi"}]
)
def test_a_stranger_gets_401_never_the_sign_in_page(header: dict[str, str]) -> None:
    answer = Client(headers=header).get("/api/v1/runs")
    problem(answer, 401)
    assert answer["WWW-Authenticate"] == "Bearer"


def test_an_expired_or_revoked_token_is_unknown(operator: Api) -> None:
    token, secret = tokens.issue_personal(
        user=operator.user, name="old", expires_at=timezone.now() - timedelta(seconds=1)
    )
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    problem(client.get("/api/v1/me"), 401)
    token.expires_at, token.revoked_at = None, timezone.now()
    token.save()
    problem(client.get("/api/v1/me"), 401)


def test_a_token_acts_within_its_scopes_only(operator: Api, project: Project) -> None:
    held = Api(operator.user, scopes=["read"])
    assert held.get("me").json()["projects"] == [
        {"slug": project.slug, "name": project.name, "role": "operator"}
    ]
    refused = problem(held.post("cards", {"name": "a"}), 403)
    assert refused["type"] == "urn:safehold:problem:token-scope"
    assert "lacks the scope plan" in refused["detail"]


def test_a_session_needs_its_csrf_token(operator: Api) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator.user)
    assert client.get("/api/v1/me").status_code == 200
    refused = client.post("/api/v1/cards", {"name": "a"}, content_type="application/json")
    assert problem(refused, 403)["type"] == "urn:safehold:problem:csrf"
    client.cookies["csrftoken"] = token = "a" * 32
    made = client.post(
        "/api/v1/cards",
        {"name": "a"},
        content_type="application/json",
        headers={"X-CSRFToken": token},
    )
    assert made.status_code == 201


def test_an_outsider_learns_nothing(outsider: Api, project: Project) -> None:
    run = make_run(project=project)
    hidden, missing = outsider.get(f"runs/{run.pk}"), outsider.get("runs/999999")
    problem(hidden, 404)
    assert hidden.json()["detail"].replace(str(run.pk), "N") == missing.json()["detail"].replace(
        "999999", "N"
    )
    assert outsider.get("runs").json() == {"items": [], "next": None}
    problem(outsider.post(f"runs/{run.pk}/launch"), 404)


def test_a_viewer_may_look_but_not_act(viewer: Api, project: Project) -> None:
    run = make_run(project=project)
    assert viewer.get(f"runs/{run.pk}").status_code == 200
    for verb in ("launch", "stop", "pause", "resume", "save"):
        problem(viewer.post(f"runs/{run.pk}/{verb}"), 403)


def test_unknown_paths_and_methods_are_problems_too(operator: Api) -> None:
    assert "/api/v1/nope" in str(problem(operator.get("nope"), 404)["detail"])
    answer = operator.client.delete("/api/v1/runs")
    problem(answer, 405)
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ("{", 400, None),
        ("[]", 400, None),
        ('{"name": NaN}', 400, None),
        ('{"name": "a", "name": "b"}', 422, "name"),
        ('{"name": "a\\u0000"}', 422, "name"),
        ('{"name": "a\\ud800"}', 422, "name"),
        ('{"name": ""}', 422, "name"),
        ("{}", 422, "name"),
        ('{"name": "a", "nmae": 1}', 422, "nmae"),
        ('{"name": 3}', 422, "name"),
        ('{"name": "a", "stage": "later"}', 422, "stage"),
        ('{"name": "a", "data": {"network": {"layers": -1}}}', 422, "network.layers"),
        ('{"name": "a", "data": {"network": {"layers": "\\u0000"}}}', 422, "data.network.layers"),
    ],
)
def test_a_bad_body_names_its_field(
    operator: Api, body: str, status: int, field: str | None
) -> None:
    document = problem(operator.post("cards", body), status)
    found = [one["field"] for one in document.get("errors", [])]
    assert found == ([field] if field else [])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1000}, "limit"),
        ({"state": "odd"}, "state"),
    ],
)
def test_a_bad_filter_names_itself(operator: Api, query: dict[str, object], field: str) -> None:
    document = problem(operator.get("runs", **query), 422)
    assert [one["field"] for one in document["errors"]] == [field]


def test_nul_in_an_address_is_refused(operator: Api) -> None:
    problem(operator.client.get("/api/v1/runs?name=a%00b"), 400)


def test_an_unexpected_failure_says_nothing_of_the_inside(
    operator: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("runs.api.runs.access.run_for", break_down)
    document = problem(operator.get("runs/1"), 500)
    assert "secret" not in str(document)


def test_the_docs_come_from_here(operator: Api) -> None:
    assert operator.client.get("/api/v1/docs").status_code == 302  # a page: sign in first
    client = Client()
    client.force_login(operator.user)
    text = client.get("/api/v1/docs").content.decode()
    assert "/static/ninja/swagger-ui-bundle.js" in text
    assert "//cdn" not in text
    assert "https://" not in text


def test_the_schema_tells_every_operation_apart() -> None:
    schema = Client().get("/api/v1/openapi.json").json()
    operations = [one["operationId"] for path in schema["paths"].values() for one in path.values()]
    assert len(operations) == len(set(operations))
    assert all(one.get("summary") for path in schema["paths"].values() for one in path.values())
