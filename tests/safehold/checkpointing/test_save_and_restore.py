"""A resumed training goes on as if it had never stopped, or says what does not fit."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from blake3 import blake3
from torch.optim import lr_scheduler

from safehold.checkpointing.checkpointer import Checkpointer
from safehold.checkpointing.errors import RestoreError
from safehold.checkpointing.names import MODEL_FILE
from safehold.checkpointing.places import Places
from safehold.checkpointing.tensors import chunks_of, load_file
from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing.training import CONFIG, Network, Training, step_folder


def test_resumed_training_continues_bit_for_bit(tmp_path):
    whole = Training(tmp_path / "other").steps(12)
    first = Training(tmp_path)
    before = first.steps(5)
    first.checkpointer.save(5)
    second = Training(tmp_path, resume_from=step_folder(tmp_path, 5), attempt="2")
    start = second.checkpointer.restore_or_start()
    assert (start.step, start.tokens, start.resumed) == (5, 120, True)
    assert start.notes == ()
    assert before + second.steps(7) == whole


def test_interrupted_twice_uses_the_same_rates(tmp_path):
    whole = [rate for _, rate in Training(tmp_path / "other").steps(9)]
    rates, resume_from = [], None
    for attempt, count in enumerate((2, 4, 3), start=1):
        training = Training(tmp_path, resume_from=resume_from, attempt=str(attempt))
        training.checkpointer.restore_or_start()
        rates += [rate for _, rate in training.steps(count)]
        training.checkpointer.save(len(rates))
        resume_from = step_folder(tmp_path, len(rates), str(attempt))
    assert rates == whole


def test_every_random_generator_is_restored(tmp_path):
    random.seed(1)
    np.random.seed(2)
    training = Training(tmp_path)
    random.gauss(0, 1)
    np.random.standard_normal(3)
    training.checkpointer.save(1)
    drawn = [random.gauss(0, 1), np.random.standard_normal(), torch.rand(1).item()]
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 1), attempt="2")
    again.checkpointer.restore_or_start()
    assert [random.gauss(0, 1), np.random.standard_normal(), torch.rand(1).item()] == drawn


def test_saved_checkpoint_verifies(tmp_path):
    training = Training(tmp_path)
    training.steps(3)
    manifest = training.checkpointer.save(3)
    result = verify(step_folder(tmp_path, 3))
    assert result.verdict == "pass", result.reasons
    assert result.manifest == manifest
    assert manifest.components["model"].aliases == {"output.weight": "embed.weight"}
    assert manifest.tokens == 72
    assert training.host.states == ["writing", "complete"]


def test_start_without_a_checkpoint_is_at_zero(tmp_path):
    start = Training(tmp_path).checkpointer.restore_or_start()
    assert (start.step, start.tokens, start.resumed) == (0, 0, False)


@pytest.mark.parametrize(
    ("section", "key", "value", "named"),
    [
        ("network", "layers", 2, "model.layers"),
        ("tokenizer", "digest", "blake3:other", "tokenizer_digest"),
        ("data", "version", "blake3:other", "data_version"),
        ("data", "mix", {"code": 1.0}, "mix_version"),
    ],
)
def test_difference_from_the_config_is_named_and_refused(tmp_path, section, key, value, named):
    Training(tmp_path).checkpointer.save(1)
    config = {**CONFIG, section: {**CONFIG[section], key: value}}
    again = Training(
        tmp_path, resume_from=step_folder(tmp_path, 1), attempt="2", fork=True, config=config
    )
    with pytest.raises(RestoreError, match=named):
        again.checkpointer.restore_or_start()


def test_another_config_needs_a_fork(tmp_path):
    Training(tmp_path).checkpointer.save(1)
    config = {**CONFIG, "train": {"steps": 99}}
    folder = step_folder(tmp_path, 1)
    again = Training(tmp_path, resume_from=folder, attempt="2", config=config)
    with pytest.raises(RestoreError, match="config_hash"):
        again.checkpointer.restore_or_start()
    fork = Training(tmp_path, resume_from=folder, attempt="2", config=config, fork=True)
    assert fork.checkpointer.restore_or_start().step == 1


def test_moments_follow_their_names_when_the_order_changes(tmp_path):
    training = Training(tmp_path)
    training.steps(2)
    training.checkpointer.save(2)
    moments = training.optimizer.state[training.network.q.weight]["exp_avg"]

    network = Network()
    network._modules = {
        name: network._modules[name] for name in ("k", "output", "q", "embed", "dropout")
    }
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 2), attempt="2", network=network)
    assert next(network.named_parameters())[0] == "k.weight"
    again.checkpointer.restore_or_start()
    assert torch.equal(again.optimizer.state[network.q.weight]["exp_avg"], moments)
    assert torch.equal(network.output.weight, training.network.embed.weight)


def test_renamed_parameter_is_refused_by_name(tmp_path):
    Training(tmp_path).checkpointer.save(1)
    network = Network()
    network._modules["key"] = network._modules.pop("k")
    network.forward = None
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 1), attempt="2", network=network)
    with pytest.raises(RestoreError, match=r"k\.bias is saved, the network has none"):
        again.checkpointer.restore_or_start()


def test_untied_weight_is_refused(tmp_path):
    Training(tmp_path).checkpointer.save(1)
    network = Network()
    network.output.weight = torch.nn.Parameter(network.embed.weight.detach().clone())
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 1), attempt="2", network=network)
    with pytest.raises(RestoreError, match=r"output\.weight is new in the network"):
        again.checkpointer.restore_or_start()


def test_other_groups_are_refused(tmp_path):
    training = Training(tmp_path)
    training.checkpointer.save(1)
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 1), attempt="2")
    bias = again.optimizer.param_groups[0]["params"].pop()
    again.optimizer.add_param_group({"params": [bias], "weight_decay": 0.0})
    with pytest.raises(RestoreError, match="grouped in another way"):
        again.checkpointer.restore_or_start()


def test_fork_keeps_the_new_settings_from_the_first_update(tmp_path):
    training = Training(tmp_path, lr=3e-4)
    training.steps(8)
    training.checkpointer.save(8)
    folder = step_folder(tmp_path, 8)
    fork = Training(
        tmp_path, resume_from=folder, attempt="2", fork=True, lr=1.5e-4, betas=(0.0, 0.95)
    )
    start = fork.checkpointer.restore_or_start()
    _, rate = fork.step()
    assert rate == pytest.approx(1.5e-4 * 0.8, rel=1e-12)
    assert fork.optimizer.param_groups[0]["betas"] == (0.0, 0.95)
    assert start.overrides["betas"] == [[0.9, 0.95], [0.0, 0.95]]


def test_resume_puts_saved_settings_back(tmp_path):
    training = Training(tmp_path)
    training.steps(4)
    training.checkpointer.save(4)
    again = Training(tmp_path, resume_from=step_folder(tmp_path, 4), attempt="2", lr=5.0)
    again.checkpointer.restore_or_start()
    assert again.optimizer.param_groups[0]["lr"] == training.optimizer.param_groups[0]["lr"]


def test_low_precision_weights_keep_their_full_precision_moments(tmp_path):
    training = Training(tmp_path)
    training.steps(2)
    moments = training.optimizer.state[training.network.q.weight]["exp_avg"].clone()
    training.network.bfloat16()
    training.checkpointer.save(2)
    again = Training(
        tmp_path, resume_from=step_folder(tmp_path, 2), attempt="2", network=Network().bfloat16()
    )
    again.checkpointer.restore_or_start()
    restored = again.optimizer.state[again.network.q.weight]["exp_avg"]
    assert restored.dtype == torch.float32
    assert torch.equal(restored, moments)


def test_loss_scaler_is_restored_and_missed(tmp_path):
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
    Training(tmp_path, scaler=scaler).checkpointer.save(1)
    fresh = torch.amp.GradScaler("cpu")
    folder = step_folder(tmp_path, 1)
    Training(
        tmp_path, attempt="2", resume_from=folder, scaler=fresh
    ).checkpointer.restore_or_start()
    assert fresh.get_scale() == 512.0
    with pytest.raises(RestoreError, match="the run has none: scaler"):
        Training(tmp_path, attempt="3", resume_from=folder).checkpointer.restore_or_start()


def test_refused_checkpoint_changes_nothing(tmp_path):
    training = Training(tmp_path)
    training.steps(2)
    training.checkpointer.save(2)
    path = step_folder(tmp_path, 2) / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    again = Training(tmp_path, attempt="2", resume_from=step_folder(tmp_path, 2))
    before = again.network.q.weight.detach().clone()
    with pytest.raises(RestoreError, match=r"optimizer\.safetensors has [0-9,]+ bytes instead of"):
        again.checkpointer.restore_or_start()
    assert torch.equal(again.network.q.weight, before)
    assert not again.optimizer.state


def test_weights_that_are_not_finite_are_refused(tmp_path):
    training = Training(tmp_path)
    with torch.no_grad():
        training.network.q.weight[0, 0] = float("nan")
    training.checkpointer.save(1)
    again = Training(tmp_path, attempt="2", resume_from=step_folder(tmp_path, 1))
    with pytest.raises(RestoreError, match=r"not finite, in q\.weight"):
        again.checkpointer.restore_or_start()


def test_script_without_scheduler_is_told_so(tmp_path):
    training = Training(tmp_path)
    Checkpointer(
        training.host,
        model=training.network,
        optimizer=training.optimizer,
        sampler=training.sampler,
        places=Places(tmp_path, "7", "1"),
    ).save(1)
    findings = verify(step_folder(tmp_path, 1)).findings
    assert any("gave no scheduler to save" in item.message for item in findings)


def put(path, content):
    """Change a file of a checkpoint, and have the manifest name the new bytes."""
    path.write_bytes(content)
    manifest = path.with_name("manifest.json")
    document = json.loads(manifest.read_bytes())
    for entry in document["files"]:
        if entry["path"] == path.name:
            entry |= {"size": len(content), "digest": blake3(content).hexdigest()}
    manifest.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: t | {"q.weight": torch.ones(1)}, r"q.weight \[1\] F32 is in the files and not"),
        (
            lambda t: {n: v for n, v in t.items() if n != "k.bias"},
            r"k.bias \[8\] F32 is stated and",
        ),
        (lambda t: t | {"more": torch.ones(2)}, r"more \[2\] F32 is in the files and not stated"),
    ],
)
@pytest.mark.parametrize("start", ["resume_from", "weights_from"])
def test_a_file_that_holds_other_tensors_than_the_manifest_states_is_refused(
    tmp_path, start, change, named
):
    training = Training(tmp_path)
    training.steps(4)
    training.checkpointer.save(4)
    tensors = change(dict(load_file(step_folder(tmp_path, 4), MODEL_FILE)))
    put(step_folder(tmp_path, 4) / MODEL_FILE, b"".join(chunks_of(tensors, {"step": "4"})))
    again = Training(tmp_path, attempt="2", **{start: step_folder(tmp_path, 4)})
    before = {name: value.clone() for name, value in again.network.state_dict().items()}
    with pytest.raises(RestoreError, match=named):
        again.checkpointer.restore_or_start()
    assert all(torch.equal(before[n], value) for n, value in again.network.state_dict().items())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("optimizer.json", []),
        ("optimizer.json", {"steps": None}),
        ("optimizer.json", {"steps": {"q.weight": "4"}}),
        ("optimizer.json", {"groups": None}),
        ("optimizer.json", {"groups": [{"parameters": [["q.weight"]]}]}),
        ("optimizer.json", {"scalars": [1]}),
        ("scheduler.json", []),
        ("sampler-00000.json", "x"),
        ("rng-00000.json", {"state": ...}),
    ],
)
def test_a_document_of_another_form_is_refused_before_anything_is_loaded(tmp_path, name, change):
    training = Training(tmp_path)
    training.steps(4)
    training.checkpointer.save(4)
    path = step_folder(tmp_path, 4) / name
    document = json.loads(path.read_bytes())
    if isinstance(change, dict):
        document |= change
        change = {key: value for key, value in document.items() if value is not ...}
    put(path, json.dumps(change).encode())
    if not name.startswith(("scheduler", "sampler")):
        assert verify(path.parent).verdict == "fail"
    again = Training(tmp_path, attempt="2", resume_from=path.parent)
    before = again.network.q.weight.detach().clone()
    with pytest.raises(RestoreError, match=f"{name} is not what Safehold writes|optimizer.json"):
        again.checkpointer.restore_or_start()
    assert torch.equal(again.network.q.weight, before)


def rates_of(root, make, *, interrupted):
    """Twelve rates of a training with some scheduler of torch, saved and resumed after the fifth or not."""
    training, rates = None, []
    for number, count in enumerate((5, 7)):
        resume_from = step_folder(root, 5) if number and interrupted else None
        if training is None or interrupted:
            made = Training(root, attempt=str(number + 1), resume_from=resume_from)
            made.scheduler = make(made.optimizer)
            made.checkpointer._parts = replace(made.checkpointer._parts, scheduler=made.scheduler)
            training = made
            training.checkpointer.restore_or_start()
        for _ in range(count):
            training.optimizer.step()
            rates.append(training.optimizer.param_groups[0]["lr"])
            measured = isinstance(training.scheduler, lr_scheduler.ReduceLROnPlateau)
            training.scheduler.step(*([1.0] if measured else []))
        if not number and interrupted:
            training.checkpointer.save(5)
    return rates


@pytest.mark.parametrize(
    "make",
    [
        lambda o: lr_scheduler.MultiStepLR(o, milestones=[3, 8, 8, 10], gamma=0.5),
        lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2),
        lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=20),
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=4),
        lambda o: lr_scheduler.SequentialLR(
            o,
            [lr_scheduler.LinearLR(o), lr_scheduler.MultiStepLR(o, milestones=[2, 5])],
            milestones=[4],
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # torch's own, of its own schedulers
def test_every_scheduler_of_torch_goes_on_as_it_was(tmp_path, make):
    whole = rates_of(tmp_path / "other", make, interrupted=False)
    assert rates_of(tmp_path, make, interrupted=True) == whole
    assert len(set(whole)) > 1


def test_the_place_of_a_sampler_comes_back_as_it_was_handed_out(tmp_path):
    random.seed(5)
    state = {"generator": random.getstate(), "shards": {0: [1, 2], 7: []}, "best": float("-inf")}
    training = Training(tmp_path)
    training.sampler.state_dict = lambda: state
    training.checkpointer.save(1)
    again = Training(tmp_path, attempt="2", resume_from=step_folder(tmp_path, 1))
    found = []
    again.sampler.load_state_dict = found.append
    again.checkpointer.restore_or_start()
    assert found == [state]
    random.setstate(found[0]["generator"])
