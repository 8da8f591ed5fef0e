"""A snapshot is written beside the training, is whole, and never goes missing in silence."""

import json
import threading

import pytest
import torch

from safehold.checkpointing import staging, writer
from safehold.checkpointing.errors import SaveError
from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing.training import CONFIG, Training, step_folder
from tests.waiting import wait_until

EVERY_STEP = {**CONFIG, "checkpoint": {"anchor_every_steps": 4, "snapshot_every_steps": 1}}


@pytest.fixture
def gate(monkeypatch):
    """Hold every write until the gate is open."""
    opened = threading.Event()
    write_file = staging.write_file

    def held(*args):
        assert opened.wait(120)
        return write_file(*args)

    monkeypatch.setattr(writer.staging, "write_file", held)
    yield opened
    opened.set()


def test_training_goes_on_and_the_snapshot_holds_the_state_it_was_taken_at(tmp_path, gate):
    training = Training(tmp_path, config=EVERY_STEP)
    training.step()
    weight = training.network.q.weight.detach().clone()
    assert training.checkpointer.maybe_save(1) is None
    training.step()
    assert not torch.equal(training.network.q.weight, weight)
    assert not step_folder(tmp_path, 1).exists()
    wait_until(lambda: training.host.states == ["writing"], 60, "the snapshot was not begun")
    gate.set()
    training.checkpointer.flush()
    assert verify(step_folder(tmp_path, 1)).verdict == "pass"
    assert training.host.states == ["writing", "complete"]
    again = Training(tmp_path, config=EVERY_STEP, attempt="2", resume_from=step_folder(tmp_path, 1))
    again.checkpointer.restore_or_start()
    assert torch.equal(again.network.q.weight, weight)


def test_two_snapshots_never_run_at_once(tmp_path):
    training = Training(tmp_path, config=EVERY_STEP)
    for step in range(1, 7):
        training.step()
        training.checkpointer.maybe_save(step)
    training.checkpointer.flush()
    assert training.host.states == ["writing", "complete"] * 6
    kinds = [item["manifest"]["kind"] for item in training.host.registered[1::2]]
    assert kinds == ["snapshot"] * 3 + ["anchor"] + ["snapshot"] * 2


def test_failed_snapshot_is_told_at_once_and_raised_at_the_flush(tmp_path, monkeypatch):
    training = Training(tmp_path, config=EVERY_STEP)
    monkeypatch.setattr(writer.staging, "write_file", full)
    training.checkpointer.save(1, kind="snapshot")
    with pytest.raises(SaveError, match="No space left"):
        training.checkpointer.flush()
    assert training.host.states == ["writing", "failed"]
    training.checkpointer.flush()


def test_buffers_are_used_again(tmp_path):
    training = Training(tmp_path, config=EVERY_STEP)
    places = []
    for step in (1, 2):
        training.step()
        training.checkpointer.save(step, kind="snapshot")
        training.checkpointer.flush()
        places.append(training.checkpointer._buffers["model/q.weight"].data_ptr())
    assert places[0] == places[1]


def full(*args):
    raise OSError(28, "No space left on device")


def test_snapshots_may_fail_so_often_in_a_row_and_no_more(tmp_path, monkeypatch):
    config = {**CONFIG, "checkpoint": {"anchor_every_steps": 100, "snapshot_every_steps": 1}}
    training = Training(tmp_path, config=config, failures_allowed=2)
    with monkeypatch.context() as patch:
        patch.setattr(writer.staging, "write_file", full)
        for step in (1, 2, 3):
            training.checkpointer.maybe_save(step)
        with pytest.raises(SaveError, match="Step 3 .*No space left"):
            training.checkpointer.maybe_save(4)
    assert training.host.states == ["writing", "failed"] * 3


def test_a_snapshot_that_is_whole_ends_the_row_of_failures(tmp_path, monkeypatch):
    config = {**CONFIG, "checkpoint": {"anchor_every_steps": 100, "snapshot_every_steps": 1}}
    training = Training(tmp_path, config=config, failures_allowed=1)
    for step in range(1, 9):
        with monkeypatch.context() as patch:
            if step % 2:
                patch.setattr(writer.staging, "write_file", full)
            training.checkpointer.maybe_save(step)
            wait_until(lambda: not training.checkpointer._background.busy, 60)
    assert training.host.states == ["writing", "failed", "writing", "complete"] * 4


def test_an_anchor_is_saved_although_the_snapshot_before_it_failed(tmp_path, monkeypatch):
    """Such as that of a stop: the disk may have room again, and without it the steps since are lost."""
    training = Training(tmp_path, config=EVERY_STEP)
    with monkeypatch.context() as patch:
        patch.setattr(writer.staging, "write_file", full)
        training.step()
        training.checkpointer.save(1, kind="snapshot")
        wait_until(lambda: not training.checkpointer._background.busy, 60)
    training.step()
    training.checkpointer.save(2)
    assert verify(step_folder(tmp_path, 2)).verdict == "pass"
    assert training.host.states == ["writing", "failed", "writing", "complete"]


def test_a_snapshot_holds_the_place_in_the_data_that_it_was_taken_at(tmp_path, gate):
    """Also of a sampler that hands out its own map and goes on to change it."""
    training = Training(tmp_path, config=EVERY_STEP)
    place = {"consumed": [4]}
    training.sampler.state_dict = lambda: place
    training.checkpointer.save(1, kind="snapshot")
    place["consumed"].append(8)
    gate.set()
    training.checkpointer.flush()
    saved = json.loads((step_folder(tmp_path, 1) / "sampler-00000.json").read_bytes())
    assert saved["state"] == {"consumed": [4]}


def test_the_last_step_is_saved_once_whatever_the_intervals(tmp_path, monkeypatch):
    training = Training(tmp_path, config=EVERY_STEP)
    training.step()
    training.checkpointer.maybe_save(1)
    training.checkpointer.save_end(1)
    assert training.host.states == ["writing", "complete"]
    training.step()
    with monkeypatch.context() as patch:
        patch.setattr(writer.staging, "write_file", full)
        training.checkpointer.maybe_save(2)
        wait_until(lambda: not training.checkpointer._background.busy, 60)
    training.checkpointer.save_end(2)
    assert training.host.states[2:] == ["writing", "failed", "writing", "complete"]
    assert verify(step_folder(tmp_path, 2)).verdict == "pass"
