from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs.models import Attempt, Config, PreflightReport, Run
from runs.services import configs, hands
from safehold.findings import fail, passed
from tests.runs.corpus import documents_on
from tests.runs.views.people import People
from tests.runs.views.test_clusters import make_cluster


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


def test_a_reason_to_start_all_the_same_is_not_lost_to_another_fault(
    people: People, broken: Config
) -> None:
    answer = launch(people, broken, waiver="The disk comes later.", name="x" * 201)
    assert 'value="The disk comes later."' in answer.content.decode()  # type: ignore[attr-defined]


def test_a_config_put_right_on_disk_can_be_launched_after_a_refusal(
    people: People, broken: Config, config: Config
) -> None:
    launch(people, broken)
    Path(broken.document["data"]["path"]).symlink_to(config.document["data"]["path"])
    launch(people, broken)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    "typed", [{"config": "999999"}, {"config": ""}, {"name": "x" * 201}, {"name": "a\x07b"}]
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


def cluster_config(people: People, document: dict[str, Any]) -> Config:
    return configs.create_config(
        user=people.operator_user, project=people.project, document=document
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every question to a worker; the cluster says yes."""
    found: list[Any] = []
    finding = passed("Taken.", code="LAUNCH-1.dry_run").to_dict()

    def ask(name: str, **ids: Any) -> dict[str, Any]:
        found.append((name, ids))
        return {"findings": [finding]}

    monkeypatch.setattr(hands, "ask", ask)
    return found


def test_a_config_for_a_cluster_offers_the_clusters_and_what_is_free(
    people: People, documents: Callable[..., dict[str, Any]], asked: list[Any]
) -> None:
    made = cluster_config(people, documents(compute__launcher="kubernetes"))
    page = people.operator.get(f"/runs/new/?config={made.pk}").content.decode()
    assert "no cluster that this config could run in" in page
    make_cluster("lab")
    make_cluster("off", is_enabled=False)
    page = people.operator.get(f"/runs/new/?config={made.pk}").content.decode()
    assert "lab: reachable, 6 of 16 H100 free" in page
    assert "kubernetes:off" not in page
    assert 'value="local"' not in page


def test_a_launch_in_a_cluster_asks_it_once(
    people: People, documents: Callable[..., dict[str, Any]], asked: list[Any]
) -> None:
    make_cluster("lab")
    made = cluster_config(people, documents(compute__launcher="kubernetes"))
    launch(people, made, launcher="kubernetes:lab")
    assert Attempt.objects.get().launcher == "kubernetes:lab"
    assert asked == [("workers.dry_run", {"config_id": made.pk, "launcher": "kubernetes:lab"})]


def test_what_the_cluster_refuses_leaves_no_run(
    people: People, documents: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_cluster("lab")
    refusal = fail("Cluster lab refuses image: Required value", code="LAUNCH-1.dry_run").to_dict()
    monkeypatch.setattr(hands, "ask", lambda *_, **__: {"findings": [refusal]})
    made = cluster_config(people, documents(compute__launcher="kubernetes"))
    answer = launch(people, made, launcher="kubernetes:lab")
    assert "Cluster lab refuses image" in answer.content.decode()  # type: ignore[attr-defined]
    assert not Run.objects.exists()


def test_a_launcher_that_the_config_is_not_for_is_refused_at_its_field(
    people: People, config: Config
) -> None:
    make_cluster("lab")
    answer = launch(people, config, launcher="kubernetes:lab")
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "written for the launcher local" in answer.content.decode()  # type: ignore[attr-defined]


def test_the_manifests_of_a_config_can_be_looked_at(
    people: People, documents: Callable[..., dict[str, Any]], config: Config
) -> None:
    make_cluster("lab")
    made = cluster_config(people, documents(compute__launcher="kubernetes"))
    page = people.viewer.get(f"/configs/{made.pk}/manifests/").content.decode()
    assert "kind: Job" in page
    assert "(hidden)" in page
    assert (
        f"/configs/{made.pk}/manifests/"
        in people.viewer.get(f"/configs/{made.pk}/").content.decode()
    )
    assert "/manifests/" not in people.viewer.get(f"/configs/{config.pk}/").content.decode()
    assert (
        "written for the launcher local"
        in people.viewer.get(f"/configs/{config.pk}/manifests/").content.decode()
    )
    assert people.outsider.get(f"/configs/{made.pk}/manifests/").status_code == 404
