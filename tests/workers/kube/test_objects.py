import base64
import json
from pathlib import Path

import pytest

from safehold.config.kubernetes import Kubernetes
from workers.kube import objects
from workers.kube.forms import FORMS
from workers.kube.kinds import JOB, SECRET, SERVICE
from workers.launchers.base import LaunchSpec

JOB_FORM = FORMS["job"]
PLACE = objects.Place(namespace="team", owner="us", image="trainer:1")


def spec(**changes):
    values = {
        "name": "safehold-r1-a2", "run_id": 1, "attempt": 2, "config": {"train": {"steps": 10}},
        "command": ("-m", "safehold.reference.train"), "devices": 16, "nodes": 2,
        "token": "sha_secret", "ingest_url": "http://safehold.example", "checkpoint_root": Path("/ckpt"),
    }  # fmt: skip
    return LaunchSpec(**values | changes)


def options(**changes):
    return Kubernetes.model_validate(changes)


def pod_of(job):
    return job["spec"]["template"]["spec"]


def test_a_cluster_takes_every_object_as_it_is(cluster, kube):
    everything = options(
        queue="research", image="train@sha256:0", pull_secrets=["regcred"], cpu="8",
        memory="512Gi", node_selector={"gpu": "h100"}, priority_class="high",
        service_account="trainer", env={"NCCL_DEBUG": "INFO"}, secret_env={"HF_TOKEN": "hub/token"},
        tolerations=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        topology_spread=[{"topology_key": "kubernetes.io/hostname"}], deadline_seconds=3600,
        volumes=[{"mount_path": "/data", "claim": "corpus", "read_only": True},
                 {"mount_path": "/ckpt", "claim": "ckpt"}, {"mount_path": "/fast", "size": "1Ti"}],
        affinity={"podAntiAffinity": {}}, annotations={"a": "b"}, runtime_class="nvidia",
    )  # fmt: skip
    for chosen in (options(), everything):
        kube.create(SECRET, "team", objects.secret(spec(), PLACE), is_dry=True)
        kube.create(SERVICE, "team", objects.service(spec(), PLACE), is_dry=True)
        kube.create(JOB, "team", JOB_FORM.build(spec(), chosen, PLACE), is_dry=True)


def test_one_pod_a_node_with_its_share_of_the_devices_and_no_retries_of_its_own():
    job = JOB_FORM.build(spec(), options(), PLACE)
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (2, 2)
    assert job["spec"]["backoffLimit"] == 0
    assert "podFailurePolicy" not in job["spec"]
    pod = pod_of(job)
    assert pod["restartPolicy"] == "Never"
    assert pod["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert "--nproc 8 --nnodes 2" in " ".join(pod["containers"][0]["command"])


def test_the_token_is_in_the_secret_and_nowhere_else():
    secret = objects.secret(spec(), PLACE)
    assert base64.b64decode(secret["data"]["token"]) == b"sha_secret"
    assert secret["immutable"] is True
    assert json.loads(base64.b64decode(secret["data"]["config.json"])) == {"train": {"steps": 10}}
    assert "sha_secret" not in json.dumps(JOB_FORM.build(spec(), options(), PLACE))
    assert "sha_secret" not in repr(spec())


def test_pods_pass_the_restricted_standard():
    pod = pod_of(JOB_FORM.build(spec(), options(), PLACE))
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    container = pod["containers"][0]["securityContext"]
    assert container == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert {key for volume in pod["volumes"] for key in volume} <= {"name", "emptyDir"}
    assert pod["automountServiceAccountToken"] is False


def test_a_config_cannot_take_the_identity_of_an_attempt():
    job = JOB_FORM.build(spec(env={"SAFEHOLD_URL": "http://elsewhere"}), options(), PLACE)
    env = pod_of(job)["containers"][0]["env"]
    last = {entry["name"]: entry.get("value") for entry in env}
    assert last["SAFEHOLD_URL"] == "http://safehold.example"
    for name in ("SAFEHOLD_TOKEN", "RANK", "MASTER_ADDR"):
        with pytest.raises(ValueError, match="is set by the launcher"):
            options(env={name: "x"})


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("memory", "lots", "is not an amount"),
        ("secret_env", {"A": "no-key"}, "is not a reference"),
        ("env", {"1A": "x"}, "is no name of an environment variable"),
        ("node_selector", {"a b": "c"}, "is no name of a label"),
        ("volumes", [{"mount_path": "relative"}], "pattern"),
    ],
)
def test_what_the_cluster_would_refuse_is_refused_by_the_config(field, value, message):
    with pytest.raises(ValueError, match=message):
        options(**{field: value})


def test_a_queue_makes_a_suspended_job_with_its_label():
    job = JOB_FORM.build(spec(), options(queue="research"), PLACE)
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert JOB_FORM.build(spec(), options(), PLACE)["spec"]["suspend"] is False


def test_the_same_attempt_gives_the_same_objects():
    assert JOB_FORM.build(spec(), options(), PLACE) == JOB_FORM.build(spec(), options(), PLACE)


def test_a_resume_and_a_fork_are_told_to_the_pod():
    env = pod_of(JOB_FORM.build(spec(resume_from="/ckpt/x", is_fork=True), options(), PLACE))
    told = {e["name"]: e.get("value") for e in env["containers"][0]["env"]}
    assert (told["SAFEHOLD_RESUME_FROM"], told["SAFEHOLD_FORK"]) == ("/ckpt/x", "1")


def test_the_weights_to_begin_with_are_told_to_the_pod():
    env = pod_of(JOB_FORM.build(spec(weights_from="/ckpt/base"), options(), PLACE))
    told = {e["name"]: e.get("value") for e in env["containers"][0]["env"]}
    assert told["SAFEHOLD_WEIGHTS_FROM"] == "/ckpt/base"
    assert not {"SAFEHOLD_RESUME_FROM", "SAFEHOLD_FORK"} & told.keys()


def test_a_tombstone_occupies_the_name_and_never_runs(cluster, kube):
    stone = JOB_FORM.tombstone("safehold-r1-a2", PLACE)
    kube.create(JOB, "team", stone)
    cluster.tick()
    assert cluster.list("pods") == []
