"""Interrupted and resumed, a run of four ranks does what it would have done, bit for bit.

Two ranks would hide what three or more show: their sums depend on the order of adding.
"""

import random
import signal

import pytest

from safehold.checkpointing.verification import verify
from tests.safehold.reference.journals import read_run
from tests.safehold.reference.launching import Launched, checkpoints, tiny_config, tiny_data

pytestmark = [pytest.mark.slow(15), pytest.mark.timeout(600)]

COMPARED = ("train/loss", "lr", "grad_norm/global", "val/loss", "val/loss/reference", "ids")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return tiny_data(tmp_path_factory.mktemp("data") / "tiny")


@pytest.fixture(scope="module")
def whole(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    launched = Launched(folder, tiny_config(prepared, folder / "checkpoints"))
    launched.wait()
    return told(launched)


def told(launched):
    found = read_run(launched.folder)
    return {
        step: {name: values[name] for name in COMPARED if name in values}
        for step, values in found.items()
        if "train/loss" in values
    }


def test_the_uninterrupted_run_learns_and_crosses_an_epoch(whole):
    assert sorted(whole) == list(range(1, 41))
    assert whole[40]["train/loss"] < whole[1]["train/loss"] - 1
    ids = [number for step in sorted(whole) for number in whole[step]["ids"]]
    assert len(ids) == 640
    assert len(set(ids)) < 640
    assert "val/loss" in whole[20]


def test_stopped_at_a_random_step_and_resumed(prepared, whole, tmp_path):
    config = tiny_config(prepared, tmp_path / "checkpoints")
    first = Launched(tmp_path, config)
    at = random.randint(2, 30)
    first.wait_for(lambda: max(read_run(first.folder), default=0) >= at)
    first.ranks.send(signal.SIGTERM)
    first.wait()
    steps = checkpoints(config)
    stopped_at = max(told(first))
    assert stopped_at in steps, first.output.read_text()
    assert stopped_at < 40
    second = Launched(tmp_path, config, attempt=2, resume_from=steps[stopped_at])
    second.wait()
    assert sorted(told(second)) == list(range(stopped_at + 1, 41))
    assert told(first) | told(second) == whole


def test_killed_at_a_random_step_and_resumed(prepared, whole, tmp_path):
    config = tiny_config(prepared, tmp_path / "checkpoints")
    first = Launched(tmp_path, config)
    at = random.randint(5, 35)
    first.wait_for(lambda: max(read_run(first.folder), default=0) >= at and checkpoints(config))
    first.ranks.send(signal.SIGKILL)
    first.ranks.wait()
    sound = checkpoints(config)
    assert all(verify(path).verdict == "pass" for path in sound.values())
    newest = max(sound)
    second = Launched(tmp_path, config, attempt=2, resume_from=sound[newest])
    second.wait()
    assert told(second) == {step: values for step, values in whole.items() if step > newest}
    before = told(first)
    last, values = before.popitem()
    assert before == {step: whole[step] for step in before}
    # The kill may come between the records of one step.
    assert values.items() <= whole[last].items()
