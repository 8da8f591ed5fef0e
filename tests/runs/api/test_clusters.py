"""Clusters over HTTP: for everybody to see, for administrators to register, credentials for nobody."""

import json
from typing import Any

import pytest
import yaml

from controlplane.common.errors import SafeholdError
from runs.models import Cluster, Sight
from runs.services import hands
from tests.factories import make_attempt, make_run, make_user
from tests.runs.api.callers import Api
from tests.runs.services.test_clusters import KUBECONFIG

SURVEY = {
    "nodes": [
        {"name": "a", "device": "H100", "num_devices": 8, "num_ours": 2, "is_ready": True, "is_schedulable": True, "reason": ""},
        {"name": "b", "device": "H100", "num_devices": 8, "num_ours": 0, "is_ready": False, "is_schedulable": True, "reason": "no word"},
    ],
    "queues": ["research"], "groups": ["batch", "jobset.x-k8s.io", "apps"], "capacity": {"H100": 8},
}  # fmt: skip


@pytest.fixture
def root(db: None) -> Api:
    return Api(make_user(is_superuser=True))


@pytest.fixture
def lab(root: Api) -> Cluster:
    answer = register(root)
    assert answer.status_code == 201, answer.json()
    Cluster.objects.update(survey=SURVEY, state="reachable", version="v1.36.2")
    return Cluster.objects.get()


def register(api: Api, **changes: Any) -> Any:
    body = {"name": "lab", "image": "trainer:1", "kubeconfig": yaml.safe_dump(KUBECONFIG)}
    return api.post("clusters", body | changes)


def test_what_was_registered_is_listed_and_its_secrets_never_come_out(
    root: Api, lab: Cluster, viewer: Api
) -> None:
    for api, path in ((viewer, "clusters"), (viewer, "clusters/lab"), (root, "clusters/lab")):
        answer = api.get(path)
        assert answer.status_code == 200
        assert "do-not-show" not in answer.content.decode()
        assert lab.credentials not in answer.content.decode()
    (one,) = viewer.get("clusters").json()["items"]
    assert (one["name"], one["state"], one["launcher"]) == ("lab", "reachable", "kubernetes:lab")
    assert one["devices"] == [{"name": "H100", "total": 16, "ours": 2, "out": 8, "free": 6}]
    assert (one["queues"], one["workloads"]) == (["research"], ["batch", "jobset.x-k8s.io"])


def test_nodes_in_trouble_come_first(viewer: Api, lab: Cluster) -> None:
    nodes = viewer.get("clusters/lab").json()["nodes"]
    assert [(node["name"], node["state"]) for node in nodes] == [("b", "not_ready"), ("a", "ready")]
    Cluster.objects.update(survey=SURVEY | {"nodes": None})
    assert viewer.get("clusters/lab").json()["nodes"] is None


def test_only_administrators_change_clusters(viewer: Api, lab: Cluster) -> None:
    limited = Api(make_user(is_superuser=True), scopes=["read", "run"])
    for api in (viewer, limited):
        assert register(api, name="other").status_code == 403
        assert api.client.delete("/api/v1/clusters/lab").status_code == 403
        assert api.post("clusters/lab/test").status_code == 403
    assert Cluster.objects.count() == 1


def test_a_fault_is_told_by_field_and_without_the_credentials(root: Api) -> None:
    answer = register(root, kubeconfig="token: do-not-show", name="Not Valid")
    assert answer.status_code == 422
    assert {one["field"] for one in answer.json()["errors"]} == {"kubeconfig"}
    assert "do-not-show" not in answer.content.decode()


def test_waiting_runs_are_told_with_their_reason_to_those_who_see_them(
    lab: Cluster, operator: Api, outsider: Api, project: Any
) -> None:
    run = make_run(project=project, created_by=operator.user, launcher="kubernetes:lab")
    make_attempt(run=run, state="waiting", reason="Quota q is used up")
    (waiting,) = operator.get("clusters").json()["items"][0]["waiting"]
    assert (waiting["run"], waiting["why"]) == (run.pk, "Quota q is used up")
    assert outsider.get("clusters").json()["items"][0]["waiting"] == []


def test_a_cluster_in_use_stays_and_an_idle_one_goes(root: Api, lab: Cluster) -> None:
    run = make_run(launcher="kubernetes:lab", needs_reconcile=True)
    assert root.client.delete("/api/v1/clusters/lab").status_code == 409
    run.needs_reconcile = False
    run.save(update_fields=["needs_reconcile"])
    assert root.client.delete("/api/v1/clusters/lab").status_code == 204
    assert root.get("clusters/lab").status_code == 404


def test_a_test_of_the_connection_asks_a_worker(
    root: Api, lab: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(hands, "ask", lambda name, **ids: asked.append((name, ids)))
    assert root.post("clusters/lab/test").status_code == 200
    assert asked == [("workers.try_cluster", {"cluster_id": lab.pk})]

    def nobody(name: str, **ids: Any) -> None:
        raise hands.NoAnswer("No worker answered.")

    monkeypatch.setattr(hands, "ask", nobody)
    assert root.post("clusters/lab/test").status_code == 503
    assert issubclass(hands.NoAnswer, SafeholdError)


def test_the_list_costs_the_same_for_many_clusters(
    root: Api, lab: Cluster, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        register(root, name=f"c-{number}")
    with django_assert_num_queries(3):  # token, clusters, waiting attempts
        assert len(root.get("clusters").json()["items"]) == 6


def test_pods_and_drift_of_an_attempt_are_told(operator: Api, outsider: Api, project: Any) -> None:
    run = make_run(project=project, created_by=operator.user)
    assert operator.get(f"runs/{run.pk}/pods").status_code == 404
    attempt = make_attempt(run=run, state="running")
    assert operator.get(f"runs/{run.pk}/pods").json()["pods"] == []
    row = {
        "name": "p",
        "index": 0,
        "node": "n",
        "word": "failed",
        "reason": "OOMKilled",
        "exit_code": 137,
    }
    finding = {
        "code": "CONF-2.drift",
        "severity": "fail",
        "message": "m",
        "evidence": {},
        "advice": "",
    }
    Sight.objects.create(
        attempt=attempt, pods={"num": 1, "words": {"failed": 1}, "rows": [row]}, drift=[finding]
    )
    answer = operator.get(f"runs/{run.pk}/pods", attempt=1).json()
    assert (answer["pods"], answer["drift"], answer["num"]) == ([row], [finding], 1)
    assert outsider.get(f"runs/{run.pk}/pods").status_code == 404


def test_the_preview_of_a_config_has_all_objects(
    operator: Api, viewer: Api, lab: Cluster, document: Any
) -> None:
    made = operator.post("configs", {"document": document(compute__launcher="kubernetes")})
    config = made.json()["id"]
    answer = viewer.get(f"configs/{config}/manifests", cluster="lab")
    assert [one["kind"] for one in answer.json()["objects"]] == ["Job", "Service", "Secret"]
    assert "(hidden)" in answer.json()["yaml"]
    assert viewer.get(f"configs/{config}/manifests", cluster="moon").status_code == 422
    local = operator.post("configs", {"document": document()}).json()["id"]
    assert viewer.get(f"configs/{local}/manifests").status_code == 422


def test_a_run_is_made_for_the_cluster_that_was_asked_for(
    operator: Api, root: Api, lab: Cluster, document: Any
) -> None:
    register(root, name="big")
    config = operator.post("configs", {"document": document(compute__launcher="kubernetes")}).json()
    refused = operator.post("runs", {"config": config["id"]})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "launcher")
    made = operator.post("runs", {"config": config["id"], "launcher": "kubernetes:big"})
    assert made.json()["launcher"] == "kubernetes:big"
    local = operator.post("runs", {"config": config["id"], "launcher": "local"})
    assert json.dumps(local.json()).count("compute.launcher")
