"""CONF-2: what was built from a config, against what a cluster holds."""

import copy
import json
from pathlib import Path

import pytest

from safehold.config.kubernetes import Kubernetes
from tests.fakes.kube import FakeCluster
from tests.fakes.kube.patching import merge_patch
from tests.workers.kube.test_objects import spec
from workers.kube import objects
from workers.kube.amounts import same_amount
from workers.kube.drift import drift, pod_of, secret_drift
from workers.kube.forms import FORMS
from workers.kube.objects import Place

RECORDINGS = Path(__file__).parents[2] / "cases" / "kubernetes-recordings"
PLACE = Place(namespace="team", owner="us", image="trainer:1")
OPTIONS = Kubernetes.model_validate(
    {
        "env": {"NCCL_DEBUG": "INFO"},
        "cpu": "0.5",
        "memory": "1024Mi",
        "volumes": [{"mount_path": "/data", "claim": "data"}],
        "tolerations": [{"key": "gpu"}],
        "node_selector": {"pool": "a"},
    }
)


@pytest.fixture
def cluster():
    fake = FakeCluster(nodes=2, gpus=8).start()
    yield fake
    fake.stop()


@pytest.fixture
def built():
    return FORMS["job"].build(spec(), OPTIONS, PLACE)


def served(built):
    """The Job and its pods as a server holds them: defaults, amounts in its own writing, its controllers' additions."""
    live = copy.deepcopy(built)
    live["metadata"] |= {"uid": "u", "generation": 2}
    live["spec"] |= {"suspend": False, "podReplacementPolicy": "TerminatingOrFailed"}
    template = live["spec"]["template"]
    container = template["spec"]["containers"][0]
    container["resources"]["requests"] = {"cpu": "500m", "memory": "1Gi"}
    container["resources"]["limits"]["memory"] = "1Gi"
    container["imagePullPolicy"] = "IfNotPresent"
    for mount in container["volumeMounts"]:
        if mount.get("readOnly") is False:
            del mount["readOnly"]
    template["metadata"]["labels"]["job-name"] = "x"
    pods = []
    for index in range(2):
        pod = copy.deepcopy(template)
        pod["metadata"]["name"] = f"pod-{index}"
        env = pod["spec"]["containers"][0]["env"]
        env.append({"name": "JOB_COMPLETION_INDEX", "value": str(index)})
        pod["spec"]["tolerations"].append({"key": "node.kubernetes.io/not-ready"})
        pod["spec"]["volumes"].append({"name": "kube-api-access-x", "projected": {}})
        pod["spec"]["nodeName"] = f"node-{index}"
        pod["status"] = {"containerStatuses": [{"imageID": "reg/trainer@sha256:a"}]}
        pods.append(pod)
    return live, pods


def fields(findings):
    return [finding.evidence["field"] for finding in findings]


def test_defaults_of_the_server_and_its_controllers_are_no_drift(built):
    live, pods = served(built)
    assert drift(built, live, pods) == []


def container_of(item):
    return item["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda c: c.update(image="trainer:2"), "image"),
        (lambda c: c.update(command=["sleep"]), "command"),
        (lambda c: c.update(args=["--lr", "1"]), "args"),
        (lambda c: c["env"].append({"name": "SAFEHOLD_URL", "value": "x"}), "env.SAFEHOLD_URL.value"),
        (lambda c: c["env"][3].update(value="WARN"), "env.NCCL_DEBUG.value"),
        (lambda c: c["resources"]["limits"].update({"nvidia.com/gpu": "4"}), "resources.limits.nvidia.com/gpu"),
        (lambda c: c["resources"]["limits"].update(memory="2Gi"), "resources.limits.memory"),
        (lambda c: c["volumeMounts"].append({"name": "y", "mountPath": "/data/y"}), "volumeMounts./data/y"),
        (lambda c: c["volumeMounts"].pop(), "volumeMounts./data"),
    ],
)  # fmt: skip
def test_an_edited_container_is_told_by_field(built, edit, field):
    live, pods = served(built)
    edit(container_of(live))
    found = fields(drift(built, live, pods))
    assert found
    assert all(one.startswith(f"spec.template.spec.containers.trainer.{field}") for one in found)


def test_an_edited_pod_is_told_with_its_name_and_only_once(built):
    live, pods = served(built)
    for pod in pods:
        pod["spec"]["containers"][0]["image"] = "trainer:2"
    (finding,) = drift(built, live, pods)
    assert finding.code == "CONF-2.drift"
    assert finding.severity == "fail"
    assert finding.evidence["field"] == "spec.containers.trainer.image"
    assert "pod pod-0 and 1 more is trainer:2; the config says trainer:1" in finding.message


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("volumes", {"name": "volume-0", "persistentVolumeClaim": {"claimName": "other"}},
         "spec.volumes.volume-0.persistentVolumeClaim.claimName"),
    ],
)  # fmt: skip
def test_what_was_put_in_place_of_ours_is_told(built, key, value, field):
    live, pods = served(built)
    entries = [one for one in pods[0]["spec"].get(key, []) if one["name"] != value["name"]]
    pods[0]["spec"][key] = [*entries, value]
    assert fields(drift(built, live, pods)) == [field]


def injected(pod):
    """As webhooks of a mesh, a secret store and a policy leave a pod."""
    spec = pod["spec"]
    spec["containers"].insert(0, {"name": "istio-proxy", "image": "proxy:1"})
    spec["initContainers"] = [{"name": "vault", "restartPolicy": "Always"}]
    spec["volumes"].append({"name": "vault-secrets", "emptyDir": {}})
    ours = spec["containers"][1]
    ours["env"].insert(0, {"name": "HTTPS_PROXY", "value": "http://proxy"})
    ours["envFrom"] = [{"configMapRef": {"name": "site"}}]
    ours["volumeMounts"].insert(0, {"name": "vault-secrets", "mountPath": "/vault"})
    ours["lifecycle"] = {"preStop": {"sleep": {"seconds": 1}}}
    spec["nodeSelector"]["zone"] = "a"
    pod["metadata"].setdefault("annotations", {})["mesh/status"] = "injected"
    pod["metadata"]["labels"]["mesh"] = "on"


def test_what_a_webhook_puts_beside_ours_is_no_drift(built):
    live, pods = served(built)
    injected(live["spec"]["template"])
    for pod in pods:
        injected(pod)
        pod["status"]["containerStatuses"] = [
            {"name": "istio-proxy", "imageID": "reg/proxy@sha256:p"},
            {"name": "trainer", "imageID": "reg/trainer@sha256:a"},
        ]
    assert drift(built, live, pods, known_images=["sha256:a"]) == []
    pods[0]["spec"]["containers"][1]["args"] = ["--lr", "1"]
    assert fields(drift(built, live, pods)) == ["spec.containers.trainer.args"]


@pytest.mark.parametrize("path", sorted(RECORDINGS.glob("*.json")), ids=lambda path: path.stem)
def test_no_recorded_job_nor_pod_drifts_from_what_was_sent(path):
    told = json.loads(path.read_text())
    if "watch_pods" not in told:
        return
    sent = told["created"]["request"]["body"]
    jobs = [told["created"]["body"], *objects_of(told["watch_jobs"])]
    pods = objects_of(told["watch_pods"])
    assert pods or path.stem == "quota-exceeded"
    assert [drift(sent, job, pods) for job in jobs] == [[]] * len(jobs)


def objects_of(events):
    told = [one["event"] for one in events]
    return [event["object"] for event in told if event["type"] in {"ADDED", "MODIFIED"}]


def test_a_workload_that_was_deleted_and_made_anew_is_told(built):
    live, pods = served(built)
    assert drift(built, live, pods, uid="u") == []
    assert fields(drift(built, live, pods, uid="another")) == ["metadata.uid"]


def test_an_image_that_was_tagged_anew_is_told_between_pods_and_between_attempts(built):
    live, pods = served(built)
    other = ["reg/trainer@sha256:b"]
    assert fields(drift(built, live, pods, known_images=other)) == ["imageID"]
    pods[1]["status"]["containerStatuses"][0]["imageID"] = other[0]
    assert fields(drift(built, live, pods)) == ["imageID"]


def test_a_value_that_somebody_put_in_is_not_shown(built):
    live, pods = served(built)
    container_of(live)["env"].append({"name": "NCCL_DEBUG", "value": "hunter2"})
    (finding,) = drift(built, live, pods)
    assert "hunter2" not in str(finding.to_dict())


def test_our_labels_are_guarded_and_those_of_others_are_theirs(built):
    live, pods = served(built)
    live["metadata"]["labels"]["team"] = "x"
    assert drift(built, live, pods) == []
    live["metadata"]["labels"]["safehold.io/run"] = "9"
    assert fields(drift(built, live, pods)) == ["metadata.labels.safehold.io/run"]


def test_a_queue_may_suspend_and_place(built):
    live, pods = served(built)
    live["spec"]["suspend"] = True
    live["spec"]["template"]["spec"]["nodeSelector"]["flavor"] = "spot"
    assert drift(built, live, []) == []


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_knows_what_its_pods_must_be(form):
    options = OPTIONS.model_copy(update={"runtime": "torch", "workload": form})
    built = FORMS[form].build(spec(), options, PLACE)
    pod = pod_of(built)
    assert pod["spec"]["containers"][0]["image"] == "trainer:1"
    assert drift(built, built, [merge_patch(copy.deepcopy(pod), {"metadata": {"name": "p"}})]) == []


def test_what_a_webhook_notes_beside_our_patch_is_no_drift():
    options = OPTIONS.model_copy(update={"runtime": "torch", "workload": "trainjob"})
    built = FORMS["trainjob"].build(spec(), options, PLACE)
    live = copy.deepcopy(built)
    live["spec"]["runtimePatches"][0]["time"] = "2026-01-01T00:00:00Z"
    live["spec"]["runtimePatches"].append({"manager": "kueue.x-k8s.io/manager"})
    assert drift(built, live, []) == []


def test_a_secret_with_another_content_is_told_without_it():
    built = objects.secret(spec(), PLACE)
    assert secret_drift(built, built) == []
    assert fields(secret_drift(built, None)) == ["secret"]
    changed = built | {"data": built["data"] | {"config.json": "b3RoZXI="}}
    (finding,) = secret_drift(built, changed)
    assert finding.evidence["field"] == "secret.config.json"
    assert "b3RoZXI" not in str(finding.to_dict())


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [("0.5", "500m", True), ("1024Mi", "1Gi", True), ("1G", "1Gi", False), (8, "8", True), ("a", "a1", False),
     ("8", "9", False), (True, "1", False)],
)  # fmt: skip
def test_amounts_in_another_writing(one, other, is_same):
    assert same_amount(one, other) is is_same
