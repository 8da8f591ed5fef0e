import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workers.kube import waiting
from workers.kube.ending import exit_record
from workers.kube.seeing import look
from workers.launchers.base import Presence

CASES = Path(__file__).parents[2] / "cases"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def case(name):
    return json.loads((CASES / "kubernetes" / f"{name}.json").read_text())


def recording(name):
    return json.loads((CASES / "kubernetes-recordings" / f"{name}.json").read_text())


def job_of(pod, *conditions, **status):
    """The Job of one pod, with the conditions given as (type, reason)."""
    owner = pod["metadata"]["ownerReferences"][0]
    told = [{"type": t, "reason": r, "status": "True", "message": r} for t, r in conditions]
    return {
        "metadata": {"name": owner["name"], "uid": owner["uid"]},
        "spec": {"completions": 1, "backoffLimit": 0},
        "status": {"conditions": told} | status,
    }


FAILED = [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")]


def test_more_host_memory_than_the_limit_is_told_as_such_and_not_as_a_kill():
    pod = case("oom_killed")
    exit = look(job_of(pod, *FAILED), [pod], now=NOW).observation.exit
    assert exit["outcome"] == "failed"
    assert "more host memory than its limit of 256Gi" in exit["message"]
    assert "would end the same way" in exit["message"]


def test_a_program_error_is_the_programs():
    pod = case("exit_1_plain")
    exit = look(job_of(pod, *FAILED), [pod], now=NOW).observation.exit
    assert exit["outcome"] == "failed"
    assert "exit code 1" in exit["message"]


def test_an_end_by_sigterm_is_told_as_a_signal():
    pod = case("exit_143")
    exit = look(job_of(pod, *FAILED), [pod], now=NOW).observation.exit
    assert "ended by signal 15" in exit["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("evicted_ephemeral_storage", "ephemeral"),
        ("preempted", "preempted by a more important pod"),
    ],
)
def test_what_the_cluster_took_away_is_no_failure_of_the_program(name, words):
    pod = case(name)
    exit = look(job_of(pod, *FAILED), [pod], now=NOW).observation.exit
    assert exit["outcome"] == "taken_away"
    assert words in exit["message"]


def test_a_pod_on_a_silent_node_is_lost_and_not_running():
    found = case("node_lost")
    seen = look(job_of(found["pod"]), [found["pod"]], now=NOW)
    assert seen.pods[0].word == "lost"
    assert seen.pods[0].is_taken_away
    assert seen.observation.presence is Presence.RUNNING
    assert "gpu-node-1 does not answer" in seen.observation.reason
    assert not seen.observation.is_gone


def test_an_image_that_cannot_be_pulled_is_told_from_waiting_for_devices():
    image, devices = case("image_pull_back_off"), case("unschedulable")
    stuck = look(job_of(image), [image], now=NOW).observation
    assert (stuck.presence, waiting.never_starts(image)) == (Presence.PENDING, True)
    assert "cannot be pulled" in stuck.reason
    patient = look(job_of(devices), [devices], now=NOW).observation
    assert (patient.presence, waiting.never_starts(devices)) == (Presence.PENDING, False)
    assert patient.reason.startswith("Waiting for devices: 0/")


def test_a_failed_init_container_ends_the_attempt_at_once_with_its_name():
    pod = case("init_failed")
    exit = look(job_of(pod), [pod], now=NOW).observation.exit
    assert exit["outcome"] == "could_not_start"
    assert "fetch-data" in exit["message"]


def test_three_of_four_indexes_are_not_three_quarters_of_a_success():
    job = case("indexed_partial_failure")
    assert exit_record(job, [])["outcome"] != "finished"
    assert look(job, [], now=NOW).observation.presence is Presence.EXITED


def test_a_reached_time_limit_is_told_as_such():
    seen = look(case("deadline_exceeded"), [], now=NOW).observation
    assert seen.presence is Presence.EXITED
    assert "time limit" in seen.exit["message"]


def test_a_decided_failure_is_not_final_while_pods_are_ending():
    seen = look(case("failure_target_only"), [], now=NOW).observation
    assert seen.presence is Presence.RUNNING
    assert seen.reason.startswith("It is ending")


def test_pods_without_their_job_are_survivors():
    pod = case("exit_1_plain") | {"status": {"phase": "Running"}}
    seen = look(None, [pod], now=NOW).observation
    assert (seen.presence, seen.num_survivors, seen.is_gone) == (Presence.ABSENT, 1, False)


def test_nothing_at_all_is_absent_and_gone():
    seen = look(None, [], now=NOW).observation
    assert (seen.presence, seen.is_gone) == (Presence.ABSENT, True)


def replay(name):
    """The looks at every moment of a recorded life."""
    found = recording(name)
    changes = [("job", e) for e in found["watch_jobs"]] + [("pod", e) for e in found["watch_pods"]]
    job, pods = None, {}
    told = [(kind, event) for kind, event in changes if event["event"]["type"] != "BOOKMARK"]
    for kind, event in sorted(told, key=lambda change: change[1]["t"]):
        item, is_gone = event["event"]["object"], event["event"]["type"] == "DELETED"
        if kind == "job":
            job = None if is_gone else item
        elif is_gone:
            pods.pop(item["metadata"]["name"], None)
        else:
            pods[item["metadata"]["name"]] = item
        yield look(job, list(pods.values()), events=found["events"], now=NOW)


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("indexed-complete", "finished", ""),
        ("exit-42-failjob", "failed", "exit code 42"),
        ("exit-1-backoff", "failed", "exit code 1"),
        ("deadline", "failed", "time limit"),
        ("oom", "failed", "more host memory"),
    ],
)
def test_a_recorded_life_ends_once_and_right(name, outcome, words):
    looks = [seen.observation for seen in replay(name)]
    ends = [seen.presence is Presence.EXITED for seen in looks if seen.presence != Presence.ABSENT]
    assert ends[-1]
    assert ends == sorted(ends), "it came back after its end"
    last = [seen for seen in looks if seen.exit][-1]
    assert last.exit["outcome"] == outcome
    assert words in last.exit["message"]


def test_a_recorded_quota_refusal_is_told_with_its_numbers():
    last = list(replay("quota-exceeded"))[-1].observation
    assert last.presence is Presence.PENDING
    assert last.reason == (
        "Quota q is used up: it asks for requests.nvidia.com/gpu=2, "
        "requests.nvidia.com/gpu=0 is in use, requests.nvidia.com/gpu=1 is allowed."
    )


def test_recorded_waits_are_told_in_words():
    assert "Waiting for devices: 0/2 nodes" in list(replay("unschedulable"))[-1].observation.reason
    reasons = [seen.observation.reason for seen in replay("image-pull")]
    assert any("registry.invalid/does-not-exist:1 cannot be pulled" in reason for reason in reasons)


def test_a_suspended_job_waits_and_is_never_taken_for_ended():
    for name in ("suspended-then-resumed", "suspended-while-running"):
        for seen in replay(name):
            suspended = seen.observation
            assert suspended.exit is None or suspended.exit["outcome"] == "finished"


def test_a_recorded_kill_of_a_deaf_program_is_gone_only_with_its_pod():
    looks = [seen.observation for seen in replay("killed-deaf")]
    assert looks[-1].is_gone
    assert not any(seen.is_gone for seen in looks[1:-2])


def test_a_place_is_told_at_no_more_than_its_record_keeps():
    """Else it would be news, and written, at every look."""
    pods = [
        {
            "metadata": {"name": f"p-{number}", "uid": str(number)},
            "spec": {"nodeName": f"gke-research-cluster-a100-highgpu-8g-pool-{number:024d}"},
            "status": {"phase": "Running"},
        }
        for number in range(9)
    ]
    job = {"metadata": {"name": "p", "uid": "j"}, "spec": {"completions": 9}, "status": {}}
    where = look(job, pods, now=NOW).observation.where
    assert where.startswith("gke-research-cluster")
    assert len(where) <= 200


@pytest.mark.parametrize(
    "message",
    [
        '{"v": 1, "ranks": [1], "outcome": ["x"], "message": {}, "ended_at": 5}',
        '{"v": 1, "ranks": 5}',
        "[" * 4000,
        '{"v": ' + "9" * 5000 + "}",
    ],
    ids=["other types", "a number", "too deep", "too long a number"],
)
def test_whatever_a_program_left_as_its_message_the_end_is_seen(message):
    pod = case("exit_1_plain")
    [status] = pod["status"]["containerStatuses"]
    status["state"]["terminated"]["message"] = message
    exit = look(job_of(pod, *FAILED), [pod], now=NOW).observation.exit
    assert (exit["outcome"], exit["ranks"]) == ("failed", {})


def test_what_a_program_said_last_can_be_stored():
    pod = case("exit_1_plain")
    [status] = pod["status"]["containerStatuses"]
    status["state"]["terminated"]["message"] = "half \ud800 and nul \0"
    seen = look(job_of(pod), [pod], now=NOW)
    for text in (seen.observation.reason, seen.pods[0].reason):
        assert " and nul \ufffd" in text
        assert text.isprintable()
