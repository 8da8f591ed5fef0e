from typing import Any

import pytest
import yaml
from django.test import Client

from runs import cluster_table
from runs.models import Cluster, Sight
from runs.services import hands
from tests.factories import make_attempt, make_run, make_user
from tests.runs.api.test_clusters import SURVEY
from tests.runs.services.test_clusters import KUBECONFIG
from tests.runs.views.people import People


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []
    monkeypatch.setattr(hands, "ask", lambda name, **ids: asked.append((name, ids)))
    return asked


@pytest.fixture
def root(people: People) -> Client:
    client = Client()
    client.force_login(make_user(is_superuser=True))
    return client


def make_cluster(name: str = "lab", **changes: Any) -> Cluster:
    values = {"namespace": "team", "way": "in_cluster", "image": "trainer:1", "survey": SURVEY}
    values |= {"state": "reachable", "version": "v1.36.2"}
    return Cluster.objects.create(name=name, created_by=make_user(), **values | changes)


def typed(**changes: str) -> dict[str, str]:
    given = {"name": "lab", "way": "kubeconfig", "image": "trainer:1"}
    return given | {"kubeconfig": yaml.safe_dump(KUBECONFIG)} | changes


def test_without_a_cluster_the_page_says_what_to_do(people: People, root: Client) -> None:
    assert "No cluster is registered" in people.viewer.get("/cluster/").content.decode()
    assert "can register one" in people.viewer.get("/cluster/").content.decode()
    assert "/cluster/register/" in root.get("/cluster/").content.decode()


def test_devices_queues_nodes_and_waiting_runs_are_shown(people: People) -> None:
    make_cluster()
    run = make_run(
        project=people.project, created_by=people.operator_user, launcher="kubernetes:lab"
    )
    make_attempt(run=run, state="waiting", reason="Quota q is used up")
    page = people.viewer.get("/cluster/").content.decode()
    for text in (
        "<strong>6</strong> free of 16",
        "research",
        "Not ready",
        "Quota q is used up",
        "v1.36.2",
    ):
        assert text in page
    assert page.index("no word") < page.index(">a<"), "the node in trouble comes first"
    assert "Test connection" not in page
    assert "Quota q" not in people.outsider.get("/cluster/").content.decode()


def test_an_unreachable_cluster_says_why_and_since_when_it_was_seen(people: People) -> None:
    make_cluster(state="unreachable", reason="no route to host", state_at="2026-01-01T00:00:00Z")
    page = people.viewer.get("/cluster/rows/").content.decode()
    assert 'data-state="unreachable"' in page
    assert "no route to host" in page


def test_nodes_that_may_not_be_seen_are_told_apart_from_none(people: People) -> None:
    make_cluster(survey={"nodes": None}, surveyed_at="2026-01-01T00:00:00Z")
    assert "lacks the right" in people.viewer.get("/cluster/").content.decode()


def test_registering_tests_the_connection(root: Client, nobody_asked: list[Any]) -> None:
    answer = root.post("/cluster/register/", typed())
    assert answer["Location"] == "/cluster/"
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.namespace) == ("lab", "team")
    assert nobody_asked == [("workers.try_cluster", {"cluster_id": cluster.pk})]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kubeconfig": "a: b"}, "It names no clusters."),
        ({"image": ""}, "This field is required."),
        ({"name": "Not Valid"}, "Enter a valid value."),
        ({"way": "token", "url": "http://x", "token": "hidden-word"}, "begins with https://"),
    ],
)
def test_a_fault_stands_at_its_field_and_no_secret_comes_back(
    root: Client, changes: dict[str, str], said: str
) -> None:
    answer = root.post("/cluster/register/", typed(**changes))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert "do-not-show" not in page
    assert "hidden-word" not in page
    assert not Cluster.objects.exists()


def test_another_namespace_under_a_run_is_refused_at_its_field(root: Client) -> None:
    root.post("/cluster/register/", typed())
    make_run(launcher="kubernetes:lab", needs_reconcile=True)
    answer = root.post("/cluster/register/", typed(namespace="other"))
    assert answer.status_code == 409
    [told] = answer.context["form"].errors["namespace"]
    assert "in use by run" in told
    assert "or stop the run first" in told


def test_replacing_begins_with_what_is_there_but_the_credentials(root: Client) -> None:
    root.post("/cluster/register/", typed())
    page = root.get("/cluster/register/?name=lab").content.decode()
    assert 'value="trainer:1"' in page
    assert "do-not-show" not in page
    root.post("/cluster/register/", typed(image="trainer:2"))
    assert Cluster.objects.get().image == "trainer:2"


@pytest.mark.parametrize("name", ["nobody", "\0"])
def test_a_cluster_that_is_not_there_begins_a_new_one(root: Client, name: str) -> None:
    answer = root.get("/cluster/register/", {"name": name})
    assert (answer.status_code, answer.context["form"].initial) == (200, {"way": "kubeconfig"})


def test_only_an_administrator_registers_tests_and_removes(people: People, root: Client) -> None:
    make_cluster()
    for client in (people.operator, people.viewer):
        assert client.get("/cluster/register/").status_code == 403
        assert client.post("/cluster/register/", typed(name="x")).status_code == 403
        assert client.post("/cluster/lab/test/").status_code == 403
        client.post("/cluster/lab/remove/")
    assert Cluster.objects.count() == 1
    root.post("/cluster/lab/remove/")
    assert not Cluster.objects.exists()


def test_a_cluster_in_use_is_not_removed_and_the_page_says_by_whom(
    root: Client, people: People
) -> None:
    make_cluster()
    run = make_run(launcher="kubernetes:lab", needs_reconcile=True)
    page = root.post("/cluster/lab/remove/", follow=True).content.decode()
    assert f"in use by run {run.pk}" in page
    assert Cluster.objects.exists()


def test_many_clusters_cost_as_many_queries_as_one(
    people: People, django_assert_num_queries: Any
) -> None:
    for number in range(6):
        make_cluster(f"c-{number}")
    with django_assert_num_queries(2):  # clusters, waiting attempts
        assert len(cluster_table.table(people.operator_user)) == 6


def test_pods_stand_under_their_attempt_and_drift_in_header_and_proof(people: People) -> None:
    run = make_run(
        project=people.project, created_by=people.operator_user, launcher="kubernetes:lab"
    )
    attempt = make_attempt(run=run, state="running")
    pod = {
        "name": "safehold-r1-a1-0",
        "index": 0,
        "node": "gpu-7",
        "word": "failed",
        "reason": "OOMKilled",
        "exit_code": 137,
    }
    finding = {
        "code": "CONF-2.drift",
        "severity": "fail",
        "message": "image is other:1",
        "evidence": {},
        "advice": "",
    }
    Sight.objects.create(
        attempt=attempt, pods={"num": 1, "words": {"failed": 1}, "rows": [pod]}, drift=[finding],
        seen_at="2026-01-01T00:00:00Z", drift_checked_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    tab = people.viewer.get(f"/runs/{run.pk}/attempts/").content.decode()
    for text in ("gpu-7", "137", "OOMKilled", "safehold-r1-a1-0"):
        assert text in tab
    header = people.viewer.get(f"/runs/{run.pk}/header/").content.decode()
    assert "What runs is not what was launched: image is other:1" in header
    assert (
        'data-finding="CONF-2.drift"'
        in people.viewer.get(f"/runs/{run.pk}/proof/").content.decode()
    )


def test_an_attempt_without_pods_shows_no_table(people: People) -> None:
    run = make_run(project=people.project, created_by=people.operator_user)
    make_attempt(run=run, state="running")
    assert "pod-table" not in people.viewer.get(f"/runs/{run.pk}/attempts/").content.decode()


def test_a_drift_that_ended_with_its_attempt_is_no_alarm(people: People) -> None:
    run = make_run(
        project=people.project, created_by=people.operator_user, launcher="kubernetes:lab"
    )
    attempt = make_attempt(
        run=run, state="ended", outcome="failed", ended_at="2026-01-01T00:00:00Z"
    )
    Sight.objects.create(attempt=attempt, drift=[{"message": "x"}])
    assert "data-drift" not in people.viewer.get(f"/runs/{run.pk}/header/").content.decode()
