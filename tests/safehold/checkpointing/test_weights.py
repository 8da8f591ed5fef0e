"""A new run begins with the weights of a checkpoint and with nothing else of it, or says what does not fit."""

import random
import shutil

import pytest
import torch

from safehold.checkpointing.errors import CheckpointError, RestoreError
from safehold.checkpointing.places import from_environment
from safehold.manifest import read
from tests.safehold.checkpointing.training import CONFIG, Network, Training, step_folder


@pytest.fixture
def base(tmp_path):
    """A checkpoint after a few steps; its training goes on beyond it."""
    training = Training(tmp_path / "base")
    training.steps(4)
    training.checkpointer.save(4)
    return training, step_folder(tmp_path / "base", 4)


def begun(tmp_path, folder, **changes):
    return Training(tmp_path / "new", weights_from=folder, network=Network(), **changes)


def config_with(section, **values):
    return {**CONFIG, section: {**CONFIG.get(section, {}), **values}}


def test_the_weights_are_those_of_the_base_bit_for_bit(tmp_path, base):
    trained, folder = base
    new = begun(tmp_path, folder)
    assert not torch.equal(new.network.q.weight, trained.network.q.weight)
    new.checkpointer.restore_or_start()
    saved = trained.network.state_dict()
    assert all(torch.equal(value, saved[name]) for name, value in new.network.state_dict().items())
    assert new.network.output.weight is new.network.embed.weight


def test_all_else_begins_anew(tmp_path, base):
    _, folder = base
    new = begun(tmp_path, folder)
    torch.manual_seed(3)
    random.seed(4)
    drawn = torch.random.get_rng_state(), random.getstate()
    start = new.checkpointer.restore_or_start()
    assert (start.step, start.tokens, start.takes, start.path) == (0, 0, "weights", folder)
    assert not start.resumed
    assert not new.optimizer.state
    assert new.scheduler.last_epoch == 0
    assert new.sampler.consumed == 0
    assert torch.equal(torch.random.get_rng_state(), drawn[0])
    assert random.getstate() == drawn[1]


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("data", {"version": "blake3:other"}),
        ("data", {"mix": {"code": 1.0}}),
        ("train", {"steps": 99}),
        ("network", {"sequence_length": 4096}),
    ],
)
def test_what_another_stage_changes_is_no_obstacle(tmp_path, base, section, values):
    new = begun(tmp_path, base[1], config=config_with(section, **values), lr=5e-5)
    assert new.checkpointer.restore_or_start().takes == "weights"
    assert new.optimizer.param_groups[0]["lr"] == 5e-5


@pytest.mark.parametrize(
    ("section", "values", "told"),
    [
        ("network", {"layers": 2}, r"model\.layers \(saved 1, now 2\)"),
        ("network", {"vocabulary": 13, "hidden": 16}, r"model\.hidden .*, model\.vocabulary"),
        (
            "tokenizer",
            {"digest": "blake3:other"},
            r'tokenizer_digest \(saved "blake3:tokenizer", now "blake3:other"\)',
        ),
    ],
)
def test_another_architecture_or_tokenizer_is_refused_with_both_values(
    tmp_path, base, section, values, told
):
    new = begun(tmp_path, base[1], config=config_with(section, **values))
    before = new.network.q.weight.clone()
    with pytest.raises(RestoreError, match=told):
        new.checkpointer.restore_or_start()
    assert torch.equal(new.network.q.weight, before)


def test_a_network_of_other_shapes_than_its_config_says_is_refused_by_tensor(tmp_path, base):
    new = Training(tmp_path / "new", weights_from=base[1], network=Network(hidden=10))
    with pytest.raises(RestoreError, match=r"q\.weight is F32 \[8, 8\] in the checkpoint"):
        new.checkpointer.restore_or_start()


def test_damaged_weights_are_refused_and_a_damaged_optimizer_is_not_read(tmp_path, base):
    _, folder = base
    for path in folder.glob("optimizer*"):
        path.write_bytes(b"torn")
    assert begun(tmp_path, folder).checkpointer.restore_or_start().takes == "weights"
    (weights,) = read(folder).components["model"].files
    content = bytearray((folder / weights).read_bytes())
    content[-1] ^= 1
    (folder / weights).write_bytes(content)
    with pytest.raises(RestoreError, match="another digest"):
        begun(tmp_path, folder, attempt="2").checkpointer.restore_or_start()


def test_a_base_that_is_gone_is_refused(tmp_path, base):
    shutil.rmtree(base[1])
    with pytest.raises(RestoreError, match="Cannot begin from these weights"):
        begun(tmp_path, base[1]).checkpointer.restore_or_start()


def test_its_checkpoints_name_the_base_and_resume_as_any_other(tmp_path, base):
    _, folder = base
    config = config_with("data", version="blake3:other")
    new = begun(tmp_path, folder, config=config)
    new.checkpointer.restore_or_start()
    new.steps(2)
    manifest = new.checkpointer.save(2)
    assert (manifest.parent, manifest.origin["takes"]) == (str(folder), "weights")
    ahead = new.steps(3)
    again = Training(
        tmp_path / "new", resume_from=step_folder(tmp_path / "new", 2), attempt="2", config=config
    )
    assert again.checkpointer.restore_or_start().step == 2
    assert again.steps(3) == ahead


def test_the_start_is_told_and_never_guessed(tmp_path):
    told = {"SAFEHOLD_CHECKPOINT_ROOT": str(tmp_path), "SAFEHOLD_WEIGHTS_FROM": "/c/step-9"}
    found = from_environment({}, told)
    assert (str(found.weights_from), found.resume_from) == ("/c/step-9", None)
    with pytest.raises(CheckpointError, match="name two starts"):
        from_environment({}, told | {"SAFEHOLD_RESUME_FROM": "/c/step-8"})
