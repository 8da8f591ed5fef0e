from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs.models import Attempt, Config, PreflightReport, Run
from runs.services import configs
from tests.runs.corpus import documents_on
from tests.runs.views.people import People


@pytest.fixture
def documents(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    return documents_on(tmp_path)


@pytest.fixture
def config(people: People, documents: Callable[..., dict[str, Any]]) -> Config:
    return configs.create_config(
        user=people.operator_user, project=people.project, document=documents()
    )


@pytest.fixture
def broken(people: People, documents: Callable[..., dict[str, Any]], tmp_path: Path) -> Config:
    document = documents(data__path=str(tmp_path / "nowhere"))
    return configs.create_config(
        user=people.operator_user, project=people.project, document=document
    )


def launch(people: People, chosen: Config, /, **typed: str) -> object:
    return people.operator.post(
        "/runs/new/", {"config": chosen.pk, "launcher": "local", "name": ""} | typed
    )


def test_without_a_config_the_page_says_what_to_do(people: People) -> None:
    assert "Write a config first" in people.operator.get("/runs/new/").content.decode()


def test_a_launch_asks_preflight_makes_the_run_and_requests_an_attempt(
    people: People, config: Config
) -> None:
    answer = launch(people, config, name="first try")
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"  # type: ignore[index]
    assert (run.name, run.desired) == ("first try", "running")
    assert Attempt.objects.get().state == "requested"
    assert PreflightReport.objects.filter(verdict="pass").exists()


def test_a_config_that_cannot_work_is_not_launched_and_leaves_no_run(
    people: People, broken: Config
) -> None:
    answer = launch(people, broken)
    page = answer.content.decode()  # type: ignore[attr-defined]
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert 'data-finding="DATA-1.format"' in page
    assert not Run.objects.exists()


def test_a_config_put_right_on_disk_can_be_launched_after_a_refusal(
    people: People, broken: Config, config: Config
) -> None:
    launch(people, broken)
    Path(broken.document["data"]["path"]).symlink_to(config.document["data"]["path"])
    launch(people, broken)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "typed", [{"config": "999999"}, {"config": ""}, {"name": "x" * 121}, {"name": "a\x07b"}]
)
def test_bad_input_comes_back_with_the_reason(
    people: People, config: Config, typed: dict[str, str]
) -> None:
    answer = launch(people, config, **typed)
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert '<div class="field-faults"><p>' in answer.content.decode()  # type: ignore[attr-defined]


def test_rights(people: People, config: Config) -> None:
    assert (
        people.viewer.post("/runs/new/", {"config": config.pk, "launcher": "local"}).status_code
        == 403
    )
    assert not Run.objects.exists()
