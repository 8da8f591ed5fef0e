"""Tokens over the API: shown once, held to scopes, project and time."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import AuditEntry, IdempotentAnswer, Project, Role, Scope
from tests.factories import make_project, make_run, make_user
from tests.runs.api.callers import Api

BODY = {"name": "laptop", "scopes": ["read", "run"], "project": "lm", "expires_in_days": 30}


def test_a_secret_is_in_one_answer_and_nowhere_else(admin: Api, project: Project) -> None:
    made = admin.post("tokens", BODY, Idempotency_Key="k")
    secret = made.json()["secret"]
    assert made.status_code == 201
    assert secret.startswith("shp_")
    again = admin.post("tokens", BODY, Idempotency_Key="k").json()
    assert (again["id"], again["secret"]) == (made.json()["id"], None)
    kept = [*AuditEntry.objects.values(), *IdempotentAnswer.objects.values()]
    assert secret not in json.dumps(kept, default=str) + json.dumps(admin.get("tokens").json())


def test_a_new_token_works_and_a_revoked_one_does_not(admin: Api, project: Project) -> None:
    made = admin.post("tokens", BODY).json()
    client = Client(headers={"Authorization": f"Bearer {made['secret']}"})
    assert client.get("/api/v1/me").json()["token"]["scopes"] == ["read", "run"]
    assert admin.post(f"tokens/{made['id']}/revoke").json()["revoked_at"]
    assert client.get("/api/v1/me").status_code == 401
    assert [one["name"] for one in admin.get("tokens").json()["items"]] == ["test"]
    assert len(admin.get("tokens", live=False).json()["items"]) == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "test"}, "name"),
        ({"scopes": ["everything"]}, "scopes.0"),
        ({"expires_in_days": 0}, "expires_in_days"),
    ],
)
def test_what_cannot_be_used_is_told_by_field(
    admin: Api, project: Project, change: dict[str, object], field: str
) -> None:
    refused = admin.post("tokens", BODY | change)
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == [field]


def test_nobody_makes_a_token_for_a_project_of_others(admin: Api) -> None:
    make_project(slug="secret")
    assert admin.post("tokens", BODY | {"project": "secret"}).status_code == 404


def test_nobody_revokes_the_token_of_somebody_else(admin: Api, viewer: Api) -> None:
    token = viewer.user.personal_tokens.get()
    assert admin.post(f"tokens/{token.pk}/revoke").status_code == 404


@pytest.mark.parametrize("scope", list(Scope))
def test_each_scope_opens_its_own_acts(admin: Api, project: Project, scope: Scope) -> None:
    run = make_run(project=project)
    held = Api(admin.user, scopes=["read", scope])
    answers = {
        Scope.PLAN: held.post("cards", {"name": "a", "project": "lm"}),
        Scope.RUN: held.post(f"runs/{run.pk}/stop"),
        Scope.ADMIN: held.patch("projects/lm", {"name": f"Named {scope}"}),
        Scope.ACCOUNT: held.post("tokens", {"name": f"by {scope}"}),
    }
    opened = {one for one, answer in answers.items() if answer.status_code != 403}
    assert opened == {scope} & set(answers)
    assert held.get(f"runs/{run.pk}").status_code == 200


def test_a_token_held_to_a_project_sees_no_other(admin: Api, project: Project) -> None:
    other = make_project(slug="other")
    other.memberships.create(user=admin.user, role=Role.ADMIN)
    mine, hidden = make_run(project=project), make_run(project=other)
    _, secret = tokens.issue_personal(user=admin.user, name="held", project=project)
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    assert client.get(f"/api/v1/runs/{mine.pk}").status_code == 200
    assert client.get(f"/api/v1/runs/{hidden.pk}").status_code == 404
    assert [one["id"] for one in client.get("/api/v1/runs").json()["items"]] == [mine.pk]
    assert [one["slug"] for one in client.get("/api/v1/me").json()["projects"]] == ["lm"]


def test_a_held_token_of_an_administrator_administers_nothing(root: Api, project: Project) -> None:
    _, secret = tokens.issue_personal(user=root.user, name="held", project=project)
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    refused = client.post("/api/v1/projects", {"name": "New"}, content_type="application/json")
    assert (refused.status_code, refused.json()["type"]) == (
        403,
        "urn:safehold:problem:token-scope",
    )


def test_a_token_makes_no_token_that_goes_further(admin: Api, project: Project) -> None:
    soon = timezone.now() + timedelta(days=2)
    _, secret = tokens.issue_personal(
        user=admin.user, name="held", scopes=["read", "account"], project=project, expires_at=soon
    )
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    def make(**changes: object) -> object:
        body = {"name": "next", "scopes": ["read"], "project": "lm", "expires_in_days": 1} | changes
        answer = client.post("/api/v1/tokens", body, content_type="application/json")
        return answer.status_code, [one["field"] for one in answer.json().get("errors", [])]

    assert make(scopes=["read", "run"]) == (422, ["scopes"])
    assert make(project=None) == (422, ["project"])
    assert make(expires_in_days=3) == (422, ["expires_at"])
    assert make(expires_in_days=None) == (422, ["expires_at"])
    assert make() == (201, [])


def test_what_a_token_did_says_so_in_the_trail(admin: Api, project: Project) -> None:
    admin.post("cards", {"name": "a", "project": "lm"})
    assert AuditEntry.objects.get(action="card.create").data["token"] == "test"


def test_lists_cost_the_same_however_long(
    admin: Api, project: Project, django_assert_max_num_queries: object
) -> None:
    for number in range(30):
        tokens.issue_personal(user=make_user(), name=f"t{number}")
        tokens.issue_personal(user=admin.user, name=f"t{number}", project=project)
    with django_assert_max_num_queries(3):  # type: ignore[operator]
        assert len(admin.get("tokens").json()["items"]) == 31
