"""Lists page by key; creates are repeated safely."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.common.models import IdempotentAnswer, Project
from runs.models import Card
from tests.factories import make_attempt, make_project, make_run, make_user
from tests.runs.api.callers import Api


def test_pages_follow_each_other_without_gap_or_repeat(operator: Api, project: Project) -> None:
    made = [make_run(project=project).pk for _ in range(5)]
    first = operator.get("runs", limit=2).json()
    make_run(project=project)  # a newcomer moves nothing
    second = operator.get("runs", limit=2, cursor=first["next"]).json()
    third = operator.get("runs", limit=2, cursor=second["next"]).json()
    found = [one["id"] for page in (first, second, third) for one in page["items"]]
    assert found == sorted(made, reverse=True)
    assert third["next"] is None


def test_a_list_costs_the_same_number_of_queries_for_any_length(
    operator: Api, project: Project
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert operator.get("runs").status_code == 200
        return len(queries)

    make_attempt(run=make_run(project=project))
    operator.get("runs")
    few = cost()
    for _ in range(4):
        make_attempt(run=make_run(project=project))
    assert cost() == few


def test_filters_choose(operator: Api, project: Project) -> None:
    draft, active = make_run(project=project, name="alpha"), make_run(project=project, name="beta")
    make_attempt(run=active)
    fork = make_run(project=project, config=draft.config, parent=draft)

    def ids(**query: object) -> set[int]:
        return {one["id"] for one in operator.get("runs", **query).json()["items"]}

    assert ids(state="active") == {active.pk}
    assert ids(state="draft") == {draft.pk, fork.pk}
    assert ids(name="ALPH") == {draft.pk}
    assert ids(parent=draft.pk) == {fork.pk}
    assert ids(config=draft.config_id) == {draft.pk, fork.pk}
    assert ids(project=project.slug) == {draft.pk, active.pk, fork.pk}


def test_a_project_of_others_is_not_there(operator: Api) -> None:
    assert operator.get("runs", project=make_project().slug).status_code == 404


def test_a_repeated_create_makes_one_object(operator: Api) -> None:
    first = operator.post("cards", {"name": "a"}, Idempotency_Key="k1")
    again = operator.post("cards", {"name": "a"}, Idempotency_Key="k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Card.objects.count() == 1


def test_a_key_serves_one_request_only(operator: Api) -> None:
    operator.post("cards", {"name": "a"}, Idempotency_Key="k1")
    refused = operator.post("cards", {"name": "b"}, Idempotency_Key="k1")
    assert refused.status_code == 422
    assert "used for another request" in refused.json()["detail"]


def test_keys_of_two_people_do_not_meet(operator: Api, project: Project) -> None:
    colleague = Api(make_user(30, project))  # type: ignore[arg-type]
    operator.post("cards", {"name": "a"}, Idempotency_Key="k1")
    assert colleague.post("cards", {"name": "b"}, Idempotency_Key="k1").status_code == 201
    assert Card.objects.count() == 2


def test_a_refused_create_keeps_no_answer(operator: Api) -> None:
    operator.post("cards", {"name": "a", "stage": "odd"}, Idempotency_Key="k1")
    assert not IdempotentAnswer.objects.exists()
    assert operator.post("cards", {"name": "a"}, Idempotency_Key="k1").status_code == 201


@pytest.mark.parametrize("key", ["k" * 201])
def test_a_long_key_is_refused(operator: Api, key: str) -> None:
    assert operator.post("cards", {"name": "a"}, Idempotency_Key=key).status_code == 422


def test_someone_in_several_projects_names_one(operator: Api) -> None:
    other = make_project()
    other.memberships.create(user=operator.user, role=20)
    refused = operator.post("cards", {"name": "a"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "project"
    assert other.slug in refused.json()["errors"][0]["message"]
    assert (
        operator.post("cards", {"name": "a", "project": other.slug}).json()["project"] == other.slug
    )
