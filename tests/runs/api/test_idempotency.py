"""A create that is sent twice makes one object: after each other, at once, by whom and with what."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.common.models import Project, Role
from runs.models import Card
from tests.factories import make_run, make_user
from tests.runs.api.callers import Api
from tests.runs.ingest.test_exactly_once import at_once

Create = tuple[str, dict[str, Any], dict[str, Any]]
NAMES = ["cards", "pilots", "configs", "runs", "views", "tokens", "projects", "members", "people", "preflight", "run preflight"]  # fmt: skip


@pytest.fixture
def root(project: Project) -> Api:
    return Api(make_user(Role.ADMIN, project, is_superuser=True))


@pytest.fixture
def creates(
    project: Project, root: Api, document: Callable[..., dict[str, Any]]
) -> dict[str, Create]:
    """Of each operation that makes something: its path, a body, and another body."""
    slug = {"project": project.slug}
    card = root.post("cards", {"name": "large", "data": {"network": {"parameters": 1e9}, "data": {"tokens": 10**10}}} | slug).json()["id"]  # fmt: skip
    config = root.post("configs", {"document": document()} | slug).json()["id"]
    run = make_run(project=project)
    new = [make_user().username for _ in range(2)]
    return {
        "cards": ("cards", {"name": "a"} | slug, {"name": "b"} | slug),
        "pilots": (f"cards/{card}/pilots", {"name": "a"}, {"name": "b"}),
        "configs": ("configs", {"document": document(name="a")} | slug, {"document": document(name="b")} | slug),
        "runs": ("runs", {"config": config}, {"config": config, "name": "b"}),
        "views": ("views", {"name": "a"} | slug, {"name": "b"} | slug),
        "tokens": ("tokens", {"name": "a"}, {"name": "b"}),
        "projects": ("projects", {"name": "New"}, {"name": "Newer"}),
        "members": (f"projects/{project.slug}/members", {"username": new[0]}, {"username": new[1]}),
        "people": ("people", {"username": "anna"}, {"username": "bert"}),
        "preflight": (f"configs/{config}/preflight", {}, {"only": ["config"]}),
        "run preflight": (f"runs/{run.pk}/preflight", {}, {"nonsense": 1}),
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_same_again_makes_nothing_new(root: Api, creates: dict[str, Create], name: str) -> None:
    path, body, other = creates[name]
    first = root.post(path, body, Idempotency_Key="k")
    assert first.status_code == 201, first.content
    again = root.post(path, body, Idempotency_Key="k")
    secret = {"secret": None, "password": None}
    hidden = {key: secret[key] for key in first.json() if key in secret}
    assert (again.status_code, again.json()) == (201, first.json() | hidden)
    refused = root.post(path, other, Idempotency_Key="k")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] in {"Idempotency-Key", "nonsense"}


def test_the_key_is_of_one_path(root: Api, creates: dict[str, Create]) -> None:
    root.post("cards", creates["cards"][1], Idempotency_Key="k")
    assert root.post("views", creates["views"][1], Idempotency_Key="k").status_code == 422


def test_two_at_once_make_one(transactional_db: None, project: Project) -> None:
    users = [make_user(Role.OPERATOR, project) for _ in range(2)]

    def send(user: Any) -> Callable[[], tuple[int, int]]:
        def act() -> tuple[int, int]:
            answer = Api(user).post("cards", {"name": "a"}, Idempotency_Key="k")
            return answer.status_code, answer.json()["id"]

        return act

    answers = at_once(*[send(users[0])] * 3, send(users[1]))
    assert {status for status, _ in answers} == {201}  # type: ignore[misc]
    assert len({number for _, number in answers[:3]}) == 1  # type: ignore[misc]
    assert Card.objects.count() == 2
