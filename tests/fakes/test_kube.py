"""The fake API server answers as the recorded real one did."""

import itertools
import json
from pathlib import Path
from unittest.mock import patch

import pytest
import urllib3
from kubernetes import client, config, watch

from tests.fakes.kube import FakeCluster
from tests.fakes.kube.admission import admit
from tests.fakes.kube.controllers import JOBS, PODS
from tests.fakes.kube.nodes import Behaviour

RECORDINGS = Path(__file__).parent.parent / "cases" / "kubernetes-recordings"


def recorded(name):
    return json.loads((RECORDINGS / f"{name}.json").read_text())


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=8).start()
    yield fake
    fake.stop()


@pytest.fixture
def api(cluster, tmp_path):
    path = cluster.kubeconfig(tmp_path / "kubeconfig")
    return config.new_client_from_config(str(path))


@pytest.fixture
def batch(api):
    return client.BatchV1Api(api)


@pytest.fixture
def core(api):
    return client.CoreV1Api(api)


def job(name="job", **spec):
    container = {
        "name": "main", "image": "trainer:1", "command": ["true"],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }  # fmt: skip
    pod = {"restartPolicy": "Never", "containers": [container], "terminationGracePeriodSeconds": 5}
    body = {"completionMode": "Indexed", "completions": 1, "parallelism": 1, "backoffLimit": 0}
    body |= {"template": {"spec": pod}} | spec
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"app": "rec"}},
        "spec": body,
    }  # fmt: skip


def raw(cluster, method, path, body=None, **query):
    answer = urllib3.request(method, cluster.server.url + path, json=body, fields=None)
    return answer.status, json.loads(answer.data)


def scrubbed(value):
    """Without what differs from one server to another: uids, times, versions, namespace."""
    if isinstance(value, dict):
        left_out = {"uid", "creationTimestamp", "resourceVersion", "namespace"}
        return {
            key: "U" if "controller-uid" in key else scrubbed(item)
            for key, item in value.items()
            if key not in left_out
        }
    return [scrubbed(item) for item in value] if isinstance(value, list) else value


def test_a_created_job_is_defaulted_as_the_recorded_one(cluster):
    made = recorded("indexed-complete")["created"]
    status, body = raw(
        cluster, "POST", "/apis/batch/v1/namespaces/team/jobs", made["request"]["body"]
    )
    assert status == made["status"]
    assert scrubbed(body) == scrubbed(made["body"])


@pytest.mark.parametrize(
    "name",
    ["already_exists", "gpu_fraction_422", "missing_job_404", "missing_group_404",
     "unknown_field_strict_400", "missing_namespace_404"],
)  # fmt: skip
def test_a_refusal_has_the_recorded_status_reason_and_message(cluster, name):
    answers = recorded("answers")
    cluster.make_namespace("rec")
    if name == "already_exists":
        create = answers["created"]["request"]
        raw(cluster, "POST", create["path"], create["body"])
    asked = answers[name]["request"]
    query = "&".join(f"{key}={value}" for key, value in (asked.get("query") or {}).items())
    answer = urllib3.request(
        asked["method"], f"{cluster.server.url}{asked['path']}?{query}", json=asked["body"]
    )
    assert answer.status == answers[name]["status"]
    expected = answers[name]["body"]
    if isinstance(expected, str):
        assert answer.data.decode() == expected
    else:
        told = json.loads(answer.data)
        assert (told["reason"], told["message"]) == (expected["reason"], expected["message"])


def test_conditions_of_a_complete_job_come_in_the_recorded_order(cluster, batch):
    cluster.runtime.behave(Behaviour(seconds=2))
    batch.create_namespaced_job("team", job(completions=2, parallelism=2))
    for _ in range(6):
        cluster.tick(1)
    end = batch.read_namespaced_job("job", "team").status
    real = recorded("indexed-complete")["job_at_end"]["status"]
    assert [(c.type, c.reason) for c in end.conditions] == [
        (c["type"], c["reason"]) for c in real["conditions"]
    ]
    assert (end.succeeded, end.completed_indexes) == (real["succeeded"], real["completedIndexes"])


def test_a_quota_shows_only_in_the_events_of_the_job(cluster, batch, core):
    cluster.make_quota(0)
    batch.create_namespaced_job("team", job())
    cluster.tick()
    assert core.list_namespaced_pod("team").items == []
    event = core.list_namespaced_event("team").items[0]
    assert (event.reason, event.involved_object.kind) == ("FailedCreate", "Job")
    assert "exceeded quota: q, requested: requests.nvidia.com/gpu=1" in event.message


def test_too_many_devices_are_unschedulable_with_the_counts(cluster, batch, core):
    item = job()
    item["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "9"
    batch.create_namespaced_job("team", item)
    cluster.tick()
    pod = core.list_namespaced_pod("team").items[0]
    condition = next(c for c in pod.status.conditions if c.type == "PodScheduled")
    assert condition.reason == "Unschedulable"
    assert condition.message.startswith("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")


def test_a_job_deleted_without_a_policy_leaves_its_pods(cluster, batch, core):
    batch.create_namespaced_job("team", job())
    cluster.tick()
    batch.delete_namespaced_job("job", "team")
    cluster.tick()
    assert [p.metadata.owner_references for p in core.list_namespaced_pod("team").items] == [None]


def test_a_foreground_deletion_waits_for_the_pods(cluster, batch, core):
    cluster.runtime.behave(Behaviour(is_deaf=True))
    batch.create_namespaced_job("team", job())
    cluster.tick()
    batch.delete_namespaced_job("job", "team", propagation_policy="Foreground")
    cluster.tick(1)
    assert batch.read_namespaced_job("job", "team").metadata.deletion_timestamp
    with pytest.raises(client.ApiException, match="object is being deleted"):
        batch.create_namespaced_job("team", job())
    cluster.tick(6)
    cluster.tick(1)
    assert batch.list_namespaced_job("team").items == []


def test_a_pod_is_kept_until_its_job_has_counted_it(cluster, batch, core):
    batch.create_namespaced_job("team", job())
    cluster.tick()
    (pod,) = cluster.list("pods")
    assert pod["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]
    core.delete_namespaced_pod(pod["metadata"]["name"], "team", grace_period_seconds=0)
    (kept,) = cluster.list("pods")
    assert kept["metadata"]["deletionGracePeriodSeconds"] == 0
    cluster.tick()
    assert pod["metadata"]["name"] not in {p["metadata"]["name"] for p in cluster.list("pods")}


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("spec.parallell", lambda j: j["spec"].update(parallell=1)),
        ("spec.template.spec.containers[0].imag", lambda j: _container(j).update(imag="x")),
        ("spec.template.spec.containers[0].env[0].valeu",
         lambda j: _container(j).update(env=[{"name": "A", "valeu": "x"}])),
    ],
)  # fmt: skip
def test_an_unknown_field_is_found_at_any_depth(cluster, path, change):
    sent = job()
    change(sent)
    place = "/apis/batch/v1/namespaces/team/jobs"
    status, body = raw(cluster, "POST", f"{place}?fieldValidation=Strict", sent)
    assert (status, body["reason"]) == (400, "BadRequest")
    assert f'unknown field "{path}"' in body["message"]
    assert raw(cluster, "POST", place, sent)[0] == 201, "a lenient server drops it"


def test_a_value_of_another_type_is_refused(cluster):
    sent = job()
    _container(sent)["env"] = [{"name": "A", "value": 1}]
    status, body = raw(cluster, "POST", "/apis/batch/v1/namespaces/team/jobs", sent)
    assert (status, body["reason"]) == (400, "BadRequest")


def _container(sent):
    return sent["spec"]["template"]["spec"]["containers"][0]


def test_a_wrong_uid_precondition_is_a_conflict(cluster, batch):
    batch.create_namespaced_job("team", job())
    with pytest.raises(client.ApiException, match="the UID in the precondition") as caught:
        batch.delete_namespaced_job(
            "job", "team", body={"preconditions": {"uid": "0"}}, propagation_policy="Background"
        )
    assert caught.value.status == 409


def test_a_watch_from_before_a_restart_is_expired(cluster, batch):
    version = batch.list_namespaced_job("team").metadata.resource_version
    cluster.restart_server()
    with pytest.raises(client.ApiException) as caught:
        list(
            watch.Watch().stream(
                batch.list_namespaced_job, "team", resource_version=version, timeout_seconds=1
            )
        )
    assert caught.value.status == 410


def test_a_watch_yields_what_happens(cluster, batch):
    version = batch.list_namespaced_job("team").metadata.resource_version
    batch.create_namespaced_job("team", job())
    events = watch.Watch().stream(
        batch.list_namespaced_job, "team", resource_version=version, timeout_seconds=1
    )
    assert [(event["type"], event["object"].metadata.name) for event in events] == [
        ("ADDED", "job")
    ]


def test_an_answer_lost_after_the_effect_leaves_the_effect(cluster, batch):
    cluster.fail(lambda r: r.method == "POST", is_dropped_after=True)
    with pytest.raises(urllib3.exceptions.ProtocolError):
        batch.create_namespaced_job("team", job())
    assert batch.read_namespaced_job("job", "team").metadata.name == "job"


def started(*, runs_processes=False, **spec):
    """A cluster with one Job and nobody who listens."""
    fake = FakeCluster(nodes=1, gpus=8, runs_processes=runs_processes)
    fake.store.create(JOBS, "team", admit(JOBS, job(**spec), is_strict=True), dry_run=False)
    return fake


def take_away(fake):
    """Remove every Job and pod at once, as requests may in the middle of a pass."""
    for resource in (JOBS, PODS):
        for item in fake.list(resource.plural):
            fake.store.remove(resource, "team", item["metadata"]["name"])


def is_taken_away_at(write_number, fake):
    """Take everything away before this write of one pass; False where a pass has fewer."""
    num_writes, write = 0, fake.store.update

    def late(*args, **kwargs):
        nonlocal num_writes
        num_writes += 1
        if num_writes == write_number:
            take_away(fake)
        return write(*args, **kwargs)

    with patch.object(fake.store, "update", late):
        fake.pass_once()
    return num_writes >= write_number


@pytest.mark.parametrize("num_passes", range(4))
def test_what_is_taken_away_in_the_middle_of_a_pass_stops_no_controller(num_passes):
    for write_number in itertools.count(1):
        fake = started(completions=2, parallelism=2)
        fake.tick(passes=num_passes)
        if not is_taken_away_at(write_number, fake):
            break
        fake.tick(60)
        assert fake.list("pods") == fake.list("jobs") == []
    assert write_number > 1


def test_a_process_ends_with_the_pod_that_was_taken_away_by_force():
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "i", "command": ["sleep", "600"]}],
    }
    fake = started(runs_processes=True, template={"spec": pod})
    fake.tick()
    (held,) = fake.list("pods")
    assert fake.runtime.poll(held, 0) is None
    take_away(fake)
    fake.pass_once()
    assert fake.runtime.poll(held, 0).exit_code == 137


def test_a_lost_node_keeps_its_pods_running_in_words(cluster, batch, core):
    batch.create_namespaced_job("team", job())
    cluster.tick()
    pod = core.list_namespaced_pod("team").items[0]
    cluster.controllers.cut_off.add(pod.spec.node_name)
    cluster.tick(1)
    cluster.tick(60)
    cluster.tick(1)
    lost = core.list_namespaced_pod("team").items[0]
    ready = next(c for c in lost.status.conditions if c.type == "Ready")
    assert (lost.status.phase, ready.status) == ("Running", "False")
    assert lost.metadata.deletion_timestamp
