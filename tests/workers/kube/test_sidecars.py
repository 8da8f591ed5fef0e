"""What webhooks put beside the trainer must neither hide it nor hold its devices."""

import pytest

from tests.workers.kube.test_behaviours import job, pod, seen, terminated
from workers.kube.conditions import main_status
from workers.launchers.base import Presence

RUNNING = {"running": {"startedAt": "2026-01-01T11:00:00Z"}}


def with_sidecar(found, state=RUNNING, *, is_ready=True):
    """A pod whose statuses come in the order of names, as a kubelet writes them."""
    sidecar = {"name": "istio-proxy", "image": "proxy", "state": state, "ready": is_ready}
    found["status"]["containerStatuses"].insert(0, sidecar)
    return found


def test_the_trainer_is_found_among_containers_by_its_name():
    found = with_sidecar(pod("Running", state=RUNNING))
    assert main_status(found)["name"] == "trainer"


def test_a_failure_of_the_trainer_is_told_whatever_stands_before_it():
    failed = with_sidecar(pod("Failed", state=terminated(137, "OOMKilled")), terminated(0))
    told = seen(job(("Failed", "True", "BackoffLimitExceeded")), failed)
    assert "more host memory" in told.exit["message"]


@pytest.mark.parametrize(("code", "outcome"), [(0, "finished"), (1, "failed")])
def test_a_sidecar_that_never_ends_does_not_hold_the_devices(code, outcome):
    held = with_sidecar(pod("Running", state=terminated(code)))
    told = seen(job(), held)
    assert (told.presence, told.exit["outcome"], told.num_survivors) == (
        Presence.EXITED, outcome, 1,
    )  # fmt: skip
    assert not told.is_gone


def test_while_one_trainer_works_no_sidecar_ends_anything():
    over = with_sidecar(pod("Running", 0, terminated(0)))
    works = with_sidecar(pod("Running", 1, RUNNING))
    assert seen(job(completions=2), over, works).presence is Presence.RUNNING
