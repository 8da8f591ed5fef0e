"""Jobs that are held back: suspended, gated, refused by several limits at once."""

from tests.workers.kube.test_behaviours import START, job, pod, seen
from workers.kube.waiting import why_no_pods, why_pending
from workers.launchers.base import Presence


def suspended(**changes):
    found = job(("Suspended", "True", "JobSuspended"), **changes)
    found["spec"]["suspend"] = True
    return found


def test_a_job_that_is_suspended_while_it_runs_is_running_until_its_pods_are_gone():
    ending = pod()
    ending["metadata"]["deletionTimestamp"] = START
    told = seen(suspended(), ending)
    assert (told.presence, told.is_suspended) == (Presence.RUNNING, False)
    assert told.reason == "It was suspended; 1 of its pods are ending."
    told = seen(suspended())
    assert (told.presence, told.is_suspended) == (Presence.PENDING, True)


def test_a_job_that_was_resumed_is_not_suspended():
    resumed = job(("Suspended", "False", "JobResumed"))
    assert seen(resumed, pod()).is_suspended is False


def test_a_scheduling_gate_is_told_from_missing_devices():
    gated = pod("Pending", conditions=[{
        "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }])  # fmt: skip
    assert why_pending(gated).startswith("Held back by a scheduling gate: ")


def test_a_quota_of_several_resources_is_told_with_all_of_them():
    message = (
        'Error creating: pods "a" is forbidden: exceeded quota: q, requested: limits.memory=2Gi,'
        "requests.nvidia.com/gpu=2, used: limits.memory=1Gi,requests.nvidia.com/gpu=0, "
        "limited: limits.memory=2Gi,requests.nvidia.com/gpu=1"
    )
    event = {"reason": "FailedCreate", "message": message, "metadata": {"creationTimestamp": START}}
    assert why_no_pods([event]) == (
        "Quota q is used up: it asks for limits.memory=2Gi,requests.nvidia.com/gpu=2, "
        "limits.memory=1Gi,requests.nvidia.com/gpu=0 is in use, "
        "limits.memory=2Gi,requests.nvidia.com/gpu=1 is allowed."
    )
