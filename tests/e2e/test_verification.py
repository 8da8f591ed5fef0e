"""A save, registered over HTTP, is proved by a real worker, also one that is killed and comes back."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from checkpoints.models import Checkpoint
from runs.models import Attempt, Config
from safehold.manifest import read
from tests.checkpoints.makers import path_of
from tests.factories import make_attempt, make_run
from tests.safehold.checkpointing.training import Training, step_folder
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e


def saved(attempt: Attempt, step: int, scratch: Path) -> Path:
    """Write a checkpoint with the real checkpointer at the place of the attempt."""
    training = Training(scratch / str(step))
    training.steps(step)
    training.checkpointer.save(step)
    place = path_of(attempt, step)
    shutil.copytree(step_folder(scratch / str(step), step), place)
    return place


def register(service: Any, attempt: Attempt, place: Path) -> int:
    Config.objects.filter(runs=attempt.run_id).update(hash=read(place).config_hash)
    body = {"v": 1, "path": str(place), "manifest": read(place).to_dict(), "state": "complete"}
    answer = httpx.post(
        f"{service.url}/api/v1/checkpoints/register",
        json=body,
        headers={"Authorization": f"Bearer {attempt.token}"},
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def wait_for(number: int, state: str) -> None:
    def told() -> str:
        found = Checkpoint.objects.get(pk=number)
        return f"{found.state}: {list(found.verifications.values())}"

    wait_until(lambda: Checkpoint.objects.get(pk=number).state == state, 60, told, every=0.2)


def test_saves_are_proved_in_the_background_whatever_happens_to_the_worker(
    live_service: Any, tmp_path: Path
) -> None:
    # On a cluster that cannot be seen: nobody takes the attempt for gone.
    attempt = make_attempt(state="running", run=make_run(launcher="kubernetes:away"))
    first = register(live_service, attempt, saved(attempt, 2, tmp_path))
    wait_for(first, "verified")
    live_service.kill("worker")
    second = register(live_service, attempt, saved(attempt, 3, tmp_path))
    broken = saved(attempt, 4, tmp_path)
    third = register(live_service, attempt, broken)
    next(broken.glob("*.safetensors")).write_bytes(b"rot")
    live_service.start_process("worker")
    wait_for(second, "verified")
    wait_for(third, "damaged")
    assert Checkpoint.objects.get(pk=third).parent_id == second
    assert Checkpoint.objects.get(pk=first).verifications.count() == 1
