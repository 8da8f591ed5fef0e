"""One of several real ranks is killed: the run fails with that rank named, and resumes to the bit."""

import os
import signal
from pathlib import Path

import psutil
import pytest

from runs.services import runs
from tests.e2e.training import Training, launch
from tests.live_service import LiveService
from tests.safehold.reference.launching import paced, tiny_config, tiny_data
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(25)]
SAVED_EVERY = 100


def ranks_of(training: Training) -> dict[int, int]:
    """Return the process of each living rank of the reference trainer."""
    found = {}
    for process in psutil.process_iter():
        try:
            arguments, environment = process.cmdline(), process.environ()
        except psutil.Error:
            continue
        is_ours = environment.get("SAFEHOLD_DIR") == str(training.folder())
        if is_ours and arguments[1:3] == ["-m", "safehold.reference.train"]:
            found[int(environment["RANK"])] = process.pid
    return found


def losses(training: Training) -> dict[int, float]:
    stored = training.stored()
    assert len({step for step, _ in stored}) == len(stored), "a step is stored twice"
    return dict(stored)


def test_killed_rank_is_named_and_the_resume_is_exact(live_service: LiveService, tmp_path: Path):
    config = tiny_config(
        tiny_data(tmp_path / "data"), live_service.home / "checkpoints",
        train={"steps": 30_000, "eval_every": 10_000}, compute={"devices": 2}, code=paced(0.05),
        checkpoint={"anchor_every_steps": SAVED_EVERY, "snapshot_every_steps": 0},
    )  # fmt: skip
    training = launch(live_service, **config)
    training.wait_shown("running", 90)

    def is_some_steps_beyond_a_proven_checkpoint() -> bool:
        """Then the second attempt does these again, and the next checkpoint is long off."""
        training.run.refresh_from_db()
        proven = training.run.checkpoint_step
        return proven is not None and 8 < max(losses(training)) - proven < SAVED_EVERY / 2

    wait_until(is_some_steps_beyond_a_proven_checkpoint, 90, training.report)
    processes = ranks_of(training)
    assert sorted(processes) == [0, 1]

    os.kill(processes[1], signal.SIGKILL)

    shown = training.wait_shown("failed")
    assert "Rank 1 was ended by signal 9 (SIGKILL)" in shown.why
    assert "resume" in shown.acts
    assert ranks_of(training) == {}
    before = losses(training)

    runs.request_resume(run=training.run, user=training.user)
    training.wait_shown("running", 90)
    begun = training.attempt.start_step
    assert training.attempt.number == 2
    assert begun > 0
    wait_until(lambda: max(losses(training), default=0) > max(before), 60, training.report)
    training.stop()
    training.wait_shown("stopped", 60)
    assert ranks_of(training) == {}

    after = losses(training)
    assert min(after) == begun + 1
    again = sorted(set(before) & set(after))
    assert again
    assert [after[step] for step in again] == [before[step] for step in again]
