"""How a cluster behaves beyond what one expects; docs/explanation/kubernetes.md tells why each matters."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.fakes.kube import answers
from tests.workers.kube.test_objects import PLACE, options, spec
from workers.kube import objects, recent, writing
from workers.kube.conditions import event_time, is_true
from workers.kube.connecting import Credentials, connect
from workers.kube.errors import KubeError
from workers.kube.forms import FORMS
from workers.kube.kinds import JOB, SECRET
from workers.kube.names import PENDING_SECONDS
from workers.kube.seeing import look
from workers.kube.waiting import why_ended, why_pending
from workers.launchers.base import LauncherError, Presence
from workers.launchers.kubernetes import KubernetesLauncher

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
START = "2026-01-01T11:00:00Z"


def job(*conditions, completions=1, annotations=None, **changes):
    metadata = {"name": "safehold-r1-a2", "uid": "u", "annotations": annotations or {}}
    told = [{"type": t, "status": s, "reason": r, "message": r} for t, s, r in conditions]
    item = {"metadata": metadata, "spec": {"completions": completions}}
    return item | {"status": {"conditions": told}} | changes


def pod(phase="Running", index=0, state=None, **status):
    found = {"phase": phase, "startTime": START, **status}
    if state is not None:
        found["containerStatuses"] = [{"name": "trainer", "image": "i", "state": state}]
    metadata = {"name": f"safehold-r1-a2-{index}-xxxxx", "uid": f"p{index}"}
    metadata["annotations"] = {"batch.kubernetes.io/job-completion-index": str(index)}
    return {"metadata": metadata, "spec": {"nodeName": "n", "containers": []}, "status": found}


def waiting(reason, message=""):
    return {"waiting": {"reason": reason, "message": message}}


def terminated(code, reason="Error", message=""):
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def seen(*given, **more):
    return look(given[0], given[1:], now=NOW, **more).observation


def test_a_condition_that_is_false_is_no_end():
    resumed = job(("Suspended", "False", "JobResumed"), ("Complete", "False", "x"))
    assert not is_true(resumed, "Complete")
    assert seen(resumed, pod()).presence is Presence.RUNNING


def test_all_pods_succeeded_without_a_condition_is_finishing_and_not_stuck():
    told = seen(job(completions=2), pod("Succeeded"), pod("Succeeded", 1))
    assert (told.presence, told.reason) == (
        Presence.RUNNING, "All pods succeeded; the Job is finishing.",
    )  # fmt: skip


@pytest.mark.parametrize(
    "reason",
    [
        "PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC",
        "TerminationByKubelet",
    ],
)  # fmt: skip
def test_every_kind_of_disruption_is_taken_away_and_not_the_programs_failure(reason):
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    gone = pod("Failed", state=terminated(137), conditions=[target])
    told = seen(job(("Failed", "True", "BackoffLimitExceeded")), gone)
    assert told.exit["outcome"] == "taken_away"


def test_a_crashed_node_is_a_failure_of_the_system():
    gone = pod("Failed", state=terminated(137, "ContainerStatusUnknown"))
    told = seen(job(("Failed", "True", "BackoffLimitExceeded")), gone)
    assert told.exit["outcome"] == "taken_away"
    assert "Its node went away" in told.exit["message"]


def test_a_pod_deleted_by_hand_is_taken_away():
    told = seen(job(("Failed", "True", "BackoffLimitExceeded")))
    assert told.exit["outcome"] == "taken_away"


def test_a_job_deleted_while_its_pods_save_is_running_until_they_are_gone():
    ending = pod()
    ending["metadata"]["deletionTimestamp"] = START
    told = look(None, [ending], now=NOW).observation
    assert (told.presence, told.num_survivors) == (Presence.RUNNING, 0)
    assert told.reason == "The Job is gone; 1 of its pods are ending."


def test_the_pod_that_is_the_cause_is_named_before_those_that_lost_their_peer():
    record = {"v": 1, "ranks": {}, "outcome": "failed"}
    first = record | {
        "ended_at": "2026-01-01T11:30:01",
        "message": "Rank 0 ended: connection closed",
    }
    second = record | {"ended_at": "2026-01-01T11:30:00", "message": "Rank 1 ended: ValueError"}
    pods = [
        pod("Failed", 0, terminated(1, message=json.dumps(first))),
        pod("Failed", 1, terminated(1, message=json.dumps(second))),
    ]
    failed = job(("Failed", "True", "BackoffLimitExceeded"), completions=2)
    assert seen(failed, *pods).exit["message"] == "Rank 1 ended: ValueError"
    pods[0] = pod("Failed", 0, terminated(137, "OOMKilled"))
    assert "more host memory than its limit" in seen(failed, *pods).exit["message"]


def test_a_record_that_another_pod_left_is_not_believed():
    foreign = json.dumps({"v": 1, "pod": "another", "outcome": "stopped", "message": "Stopped."})
    told = seen(
        job(("Complete", "True", "x")), pod("Succeeded", state=terminated(0, "Completed", foreign))
    )
    assert told.exit["outcome"] == "finished"


def test_a_record_at_the_end_of_the_output_is_read():
    own = json.dumps({"v": 1, "outcome": "failed", "message": "Rank 0 ended with exit code 3: x"})
    failed = pod("Failed", state=terminated(1, message=f"step 1\nstep 2\n{own}\n"))
    told = seen(job(("Failed", "True", "BackoffLimitExceeded")), failed)
    assert told.exit["message"] == "Rank 0 ended with exit code 3: x"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (waiting("ErrImagePull", "no such host"), "The image i cannot be pulled: no such host"),
        (waiting("ImagePullBackOff"), "The image i cannot be pulled: ImagePullBackOff"),
        (waiting("CreateContainerConfigError", 'secret "x" not found'), 'secret "x" not found'),
        (waiting("CrashLoopBackOff"), "cannot start (CrashLoopBackOff)"),
    ],
)
def test_what_never_ends_by_itself_is_told_and_given_up_after_its_time(state, words):
    stuck = pod("Pending", state=state)
    assert words in why_pending(stuck)
    patient = job(annotations={PENDING_SECONDS: "7200"})
    assert seen(patient, stuck).presence is Presence.PENDING
    told = seen(job(annotations={PENDING_SECONDS: "900"}), stuck)
    assert (told.presence, told.exit["outcome"]) == (Presence.EXITED, "could_not_start")
    assert told.num_survivors == 1
    assert words in told.reason


def test_a_volume_that_cannot_be_mounted_is_given_up_as_well():
    stuck = pod("Pending", state=waiting("ContainerCreating"))
    event = {"involvedObject": {"uid": "p0"}, "reason": "FailedMount", "message": 'no claim "c"'}
    event |= {"lastTimestamp": START}
    told = seen(job(annotations={PENDING_SECONDS: "900"}), stuck, events=[event])
    assert told.exit["outcome"] == "could_not_start"
    assert 'A volume cannot be mounted: no claim "c"' in told.reason


def test_waiting_for_devices_is_never_given_up():
    lacking = pod("Pending")
    lacking["spec"].pop("nodeName")
    lacking["status"]["conditions"] = [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/2 nodes",
        }
    ]
    told = seen(job(annotations={PENDING_SECONDS: "30"}), lacking)
    assert (told.presence, told.reason) == (Presence.PENDING, "Waiting for devices: 0/2 nodes")


def test_a_slow_pull_of_a_large_image_is_never_given_up():
    slow = pod("Pending", state=waiting("ContainerCreating"))
    told = seen(job(annotations={PENDING_SECONDS: "30"}), slow)
    assert told.presence is Presence.PENDING


def test_the_last_words_of_what_never_came_to_its_wrapper_are_told():
    said = "Traceback\n  File x\nModuleNotFoundError: No module named 'safehold'\n"
    assert why_ended(pod("Failed", state=terminated(1, message=said))).endswith(
        "exit code 1 (Error). ModuleNotFoundError: No module named 'safehold'"
    )


def test_a_deletion_that_hangs_names_the_pods_that_are_left():
    ending = pod()
    ending["metadata"]["deletionTimestamp"] = START
    deleted = job()
    deleted["metadata"]["deletionTimestamp"] = START
    assert seen(deleted, ending).reason == (
        "It is being deleted; 1 of its pods are left: safehold-r1-a2-0-xxxxx."
    )


def test_a_program_that_is_not_there_is_told():
    ended = pod("Failed", state=terminated(128, "StartError", 'exec: "trin": not found'))
    assert why_ended(ended).startswith('Its program could not be started: exec: "trin"')


def test_events_of_the_scheduler_and_of_others_come_in_one_order():
    scheduler = {"eventTime": "2026-01-01T00:00:02.000000Z", "lastTimestamp": None}
    repeated = scheduler | {"series": {"lastObservedTime": "2026-01-01T00:00:05.000000Z"}}
    kubelet = {"eventTime": None, "lastTimestamp": "2026-01-01T00:00:03Z"}
    bare = {"metadata": {"creationTimestamp": "2026-01-01T00:00:01Z"}}
    assert sorted([repeated, kubelet, scheduler, bare], key=event_time) == [
        bare, scheduler, kubelet, repeated,
    ]  # fmt: skip


def test_nothing_of_ours_outlives_us_by_a_finalizer_or_vanishes_by_a_time_to_live():
    for name, form in FORMS.items():
        item = form.build(spec(), options(workload=name, runtime="torch"), PLACE)
        for made in (item, objects.secret(spec(), PLACE), objects.service(spec(), PLACE)):
            assert "finalizers" not in made["metadata"]
        assert "ttlSecondsAfterFinished" not in json.dumps(item)


def test_devices_are_whole_numbers_in_limits_alone():
    container = FORMS["job"].build(spec(), options(cpu="4"), PLACE)["spec"]["template"]["spec"]
    resources = container["containers"][0]["resources"]
    assert resources == {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "4"}}


def test_writes_name_their_manager_and_every_request_has_a_time_limit(cluster, kube, monkeypatch):
    kube.create(SECRET, "team", objects.secret(spec(), PLACE))
    assert cluster.server.requests[-1].query["fieldManager"] == "safehold"
    assert connect(Credentials(url="https://x", token="y")).user_agent == "safehold"
    limits = []
    rest = type(kube._client.rest_client)
    real = rest.request

    def noted(self, *args, **more):
        limits.append(more["_request_timeout"])
        return real(self, *args, **more)

    monkeypatch.setattr(rest, "request", noted)
    kube.list(JOB, "team")
    list(kube.watch(JOB, "team", selector="", version="", seconds=1))
    assert all(connect and read for connect, read in limits)


@pytest.fixture
def launcher(kube, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(writing, "ROLES_SECONDS", 0.01)
    return KubernetesLauncher(kube, PLACE)


def test_one_403_just_after_a_start_of_the_api_server_refuses_no_launch(cluster, launcher):
    refused = answers.status(403, "Forbidden", "roles are not loaded yet")
    cluster.fail(lambda r: r.method == "POST", before=refused)
    launcher.start(spec())
    assert len(cluster.list("jobs")) == 1


def test_a_missing_right_and_a_namespace_being_deleted_are_final_and_told(cluster, launcher):
    words = "unable to create new content in namespace team because it is being terminated"
    cluster.fail(
        lambda r: r.method == "POST", times=9, before=answers.status(403, "Forbidden", words)
    )
    with pytest.raises(LauncherError, match="being terminated") as caught:
        launcher.start(spec())
    assert not caught.value.can_retry


def test_a_name_in_deletion_is_told_from_one_that_we_made(cluster, launcher):
    cluster.runtime.behave(type(cluster.runtime._of({}))(is_deaf=True))
    launcher.start(spec())
    cluster.tick()
    launcher.stop("safehold-r1-a2", {}, grace_seconds=1)
    with pytest.raises(LauncherError, match="is being deleted; its name is not used again"):
        launcher.start(spec())


def test_objects_are_patched_and_never_replaced_so_that_unknown_fields_stay(cluster, launcher):
    launcher.start(spec())
    assert {r.method for r in cluster.server.requests} <= {"GET", "POST", "PATCH", "DELETE"}


def test_a_cluster_that_does_not_answer_holds_up_one_run_and_not_all(cluster, kube, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 60.0)
    patient = KubernetesLauncher(kube, PLACE)
    cluster.server.stop()
    assert patient.observe("a", {}).presence is Presence.UNREACHABLE
    asked = []
    monkeypatch.setattr(type(kube), "_json", lambda *args, **more: asked.append(args))
    assert patient.observe("b", {}).presence is Presence.UNREACHABLE
    assert asked == []


def test_an_attempt_of_200_pods_costs_one_list_a_kind(cluster, launcher, monkeypatch):
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 60.0)
    cluster.make_node("large", 400)
    launcher.start(spec(nodes=200, devices=200))
    cluster.tick()
    cluster.server.requests.clear()
    for _ in range(3):
        assert launcher.observe("safehold-r1-a2", {}).presence is Presence.RUNNING
    assert len(launcher.look("safehold-r1-a2").pods) == 200
    counts = [cluster.server.count("GET", plural) for plural in ("jobs", "pods", "nodes")]
    assert counts == [1, 1, 1]


def test_a_refusal_while_the_cluster_is_busy_names_when_to_come_again(cluster, kube):
    cluster.fail(lambda r: r.method == "GET", before=answers.too_many_requests())
    with pytest.raises(KubeError) as caught:
        kube.list(JOB, "team")
    assert caught.value.can_retry
    assert timedelta(seconds=caught.value.retry_after_seconds) >= timedelta(seconds=1)
