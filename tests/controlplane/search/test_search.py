from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from checkpoints.models import Checkpoint
from controlplane.common.models import Project, Role
from runs.models import Card, Run
from tests.factories import make_attempt, make_config, make_project, make_run, make_user
from tests.runs.api.callers import Api


@pytest.fixture
def project(db: None) -> Project:
    return make_project(name="Language models")


@pytest.fixture
def viewer(project: Project) -> Api:
    return Api(make_user(Role.VIEWER, project))


@pytest.fixture
def run(project: Project) -> Run:
    """A run with a card, a config and a checkpoint."""
    owner = make_user(Role.OPERATOR, project)
    card = Card.objects.create(
        project=project, name="Wider is better", question="Is it?", owner=owner
    )
    config = make_config(
        project=project, created_by=owner, name="lr-sweep", hash="blake3:abcdef0123456789"
    )
    run = make_run(config=config, card=card, name="wide-7b", tags=["bf16"], group="width")
    Checkpoint.objects.create(
        run=run, attempt=make_attempt(run=run), step=200, kind="anchor", path="/c/step-200", state="verified",
        state_at=timezone.now(), created_at=timezone.now(), data_version="blake3:feed0000",
    )  # fmt: skip
    return run


def kinds(api: Api, text: str) -> list[str]:
    return [hit["kind"] for hit in api.get("search", q=text).json()["items"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("WIDE-7", ["run", "checkpoint"]),
        ("bf16", ["run", "checkpoint"]),
        ("width", ["run", "checkpoint"]),
        ("wider", ["run", "card", "checkpoint"]),
        ("is it", ["card"]),
        ("lr-sw", ["run", "config", "checkpoint"]),
        ("abcdef", ["run", "config", "checkpoint"]),
        ("blake3:abcdef", ["config"]),
        ("FEED", ["checkpoint"]),
        ("nothing like it", []),
        ("%", []),
        ("_", []),
    ],
)
def test_things_are_found_by_what_people_remember(
    viewer: Api, run: Run, text: str, found: list[str]
) -> None:
    assert sorted(kinds(viewer, text)) == sorted(found)


def test_everything_is_found_by_its_number(viewer: Api, run: Run) -> None:
    assert "run" in kinds(viewer, f"#{run.pk}")
    assert "config" in kinds(viewer, str(run.config_id))
    assert kinds(viewer, "9" * 17) == kinds(viewer, "9" * 30) == []


def test_what_others_have_is_not_found(run: Run) -> None:
    assert kinds(Api(make_user(Role.ADMIN, make_project())), "wide") == []


def test_the_page_says_what_it_found_and_how_to_search(viewer: Api, run: Run) -> None:
    client = Client()
    client.force_login(viewer.user)
    page = client.get("/search/", {"q": "wide"}).content.decode()
    assert f'href="/runs/{run.pk}/"' in page
    assert "Language models" in page
    assert "Nothing matches" in client.get("/search/", {"q": "zzz"}).content.decode()
    assert "Press / on any page" in client.get("/search/").content.decode()
    assert "&lt;b&gt;" in client.get("/search/", {"q": "<b>"}).content.decode()
    assert client.get("/search/?q=%00").status_code == 200


def test_ten_of_a_kind_are_shown_and_the_list_has_the_rest(
    viewer: Api, run: Run, django_assert_max_num_queries: Any
) -> None:
    for number in range(15):
        make_run(config=run.config, name=f"wide-{number}")
    client = Client()
    client.force_login(viewer.user)
    with django_assert_max_num_queries(9):
        page = client.get("/search/", {"q": "wide"}).content.decode()
    assert page.count("data-row-link") == 10 + 1 + 1  # runs, the card, the checkpoint
    assert "/runs/?q=wide&amp;shelf=all" in page


def test_an_empty_question_is_refused(viewer: Api) -> None:
    assert viewer.get("search", q="").status_code == 422
    assert viewer.get("search").status_code == 422
