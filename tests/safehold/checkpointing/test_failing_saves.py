"""A save that did not happen is never reported as done, and harms nothing."""

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from safehold.checkpointing import staging
from safehold.checkpointing.errors import SaveError
from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing.training import CONFIG, Training, step_folder


class Faults:
    """Fails the n-th write, sync or rename, or kills the save there as a crash would."""

    def __init__(self, monkeypatch, fail_at: int, error: BaseException) -> None:
        self.count, self._fail_at, self._error = 0, fail_at, error
        for module, name in ((os, "write"), (os, "fsync"), (os, "rename"), (os, "mkdir")):
            monkeypatch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, function):
        def wrapper(*args, **kwargs):
            self.count += 1
            if self.count == self._fail_at:
                raise self._error
            return function(*args, **kwargs)

        return wrapper


class Crash(BaseException):
    """Ends the save on the spot, past every `except Exception`."""


def count_operations(tmp_path, monkeypatch) -> int:
    with monkeypatch.context() as patch:
        training = Training(tmp_path / "counted")
        training.steps(1)
        faults = Faults(patch, 0, Crash())
        training.checkpointer.save(1)
    return faults.count


def test_crash_at_any_operation_leaves_the_old_ones_and_recognisable_garbage(tmp_path, monkeypatch):
    num_operations = count_operations(tmp_path, monkeypatch)
    assert num_operations > 10
    for fail_at in range(1, num_operations + 1):
        root = tmp_path / str(fail_at)
        training = Training(root)
        training.step()
        training.checkpointer.save(1)
        training.step()
        with monkeypatch.context() as patch:
            Faults(patch, fail_at, Crash())
            try:
                training.checkpointer.save(2)
            except Crash:
                pass
        assert verify(step_folder(root, 1)).verdict == "pass"
        for folder in step_folder(root, 1).parent.iterdir():
            whole = not staging.is_garbage(folder.name)
            assert (verify(folder).verdict == "pass") is whole, folder


def test_failed_save_raises_is_told_and_the_next_one_cleans_up(tmp_path, monkeypatch):
    training = Training(tmp_path)
    training.checkpointer.save(1)
    with monkeypatch.context() as patch:
        Faults(patch, 4, OSError(28, "No space left on device"))
        with pytest.raises(
            SaveError, match=r"Step 2 could not be saved to .*step-2.*No space left"
        ):
            training.checkpointer.save(2)
    assert training.host.states == ["writing", "complete", "writing", "failed"]
    assert "No space left" in training.host.registered[-1]["error"]
    names = sorted(path.name for path in step_folder(tmp_path, 1).parent.iterdir())
    assert len(names) == 2
    assert staging.is_garbage(names[0])
    training.checkpointer.save(3)
    assert sorted(path.name for path in step_folder(tmp_path, 1).parent.iterdir()) == [
        "step-1",
        "step-3",
    ]


def test_scheduled_saves_may_fail_so_often_and_no_more(tmp_path):
    config = {**CONFIG, "checkpoint": {"anchor_every_steps": 1}}
    (tmp_path / "file").write_text("not a folder")
    training = Training(tmp_path / "file", config=config, failures_allowed=2)
    assert training.checkpointer.maybe_save(1) is None
    assert training.checkpointer.maybe_save(2) is None
    with pytest.raises(SaveError, match="Step 3"):
        training.checkpointer.maybe_save(3)
    assert training.host.states == ["writing", "failed"] * 3


def test_a_step_is_saved_once(tmp_path):
    training = Training(tmp_path)
    training.step()
    first = training.checkpointer.save(1)
    assert training.checkpointer.save(1) == first
    assert training.host.states == ["writing", "complete", "complete"]


def test_folder_of_another_process_is_never_taken_for_ones_own(tmp_path):
    Training(tmp_path).checkpointer.save(1)
    with pytest.raises(SaveError, match="step-1"):
        Training(tmp_path).checkpointer.save(1)


ENDLESS = """
import sys
from pathlib import Path
from tests.safehold.checkpointing.training import Training
training = Training(Path(sys.argv[1]))
step = 0
while True:
    step += 1
    training.step()
    training.checkpointer.save(step)
    print(step, flush=True)
"""


def test_killed_process_leaves_only_whole_checkpoints_and_garbage(tmp_path):
    for kill in range(3):
        root = tmp_path / str(kill)
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(root)],
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path.cwd())},
        )
        process.stdout.readline()
        time.sleep(random.random() / 20)  # any moment will do: that is the point
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        folders = list((root / "run-7" / "a1").iterdir())
        whole = [folder for folder in folders if not staging.is_garbage(folder.name)]
        assert whole
        assert all(verify(folder).verdict == "pass" for folder in whole)
        assert all(verify(folder).verdict == "fail" for folder in folders if folder not in whole)


def test_what_an_attempt_that_was_killed_left_goes_after_a_day(tmp_path):
    old, young = (tmp_path / "run-7" / "a1" / f".tmp-step-{n}-x" for n in (3, 4))
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"x")
    other = tmp_path / "run-8" / "a1" / ".tmp-step-1-x"
    other.mkdir(parents=True)
    yesterday = time.time() - 25 * 3600
    for path in (old / "model.safetensors", old, young, other):
        os.utime(path, (yesterday, yesterday))
    Training(tmp_path, attempt="2").checkpointer.save(1)
    assert [old.exists(), young.exists(), other.exists()] == [False, True, True]


@pytest.mark.parametrize(("number", "saved"), [(errno.EINVAL, True), (errno.EIO, False)])
def test_a_file_system_that_syncs_no_folders_is_no_failure(tmp_path, monkeypatch, number, saved):
    fsync = os.fsync

    def only_files(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    training = Training(tmp_path)
    monkeypatch.setattr(os, "fsync", only_files)
    with nullcontext() if saved else pytest.raises(SaveError, match="Input/output error"):
        training.checkpointer.save(1)
    assert step_folder(tmp_path, 1).exists() is saved
