"""Batches come from the data and the tokenizer that the config locks, or from none."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from safehold.data import tokenizer
from safehold.data.sampler import Sampler
from safehold.reference.evaluation import Evaluation, mean
from safehold.reference.loader import (
    DataMismatch,
    Loader,
    open_training_data,
    open_validation_data,
)
from safehold.reference.network import Network, loss_of
from safehold.reference.processes import Processes
from tests.safehold.reference.launching import tiny_config, tiny_data

ALONE = Processes(0, 1, 0, torch.device("cpu"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return tiny_data(tmp_path_factory.mktemp("data") / "tiny")


@pytest.fixture
def config(prepared, tmp_path):
    return tiny_config(prepared, tmp_path / "checkpoints")


def test_batches_hold_the_sampled_sequences(config, tmp_path):
    data = open_training_data(config, tmp_path)
    sampler = Sampler(len(data), global_batch=8, seed=1, accumulation=2)
    batch = next(iter(Loader(data, sampler, ALONE.device)))
    assert [part.shape for part in batch.micro] == [(4, 33), (4, 33)]
    assert batch.num_tokens == 8 * 32
    together = torch.cat(batch.micro).numpy()
    assert np.array_equal(together, data.sequences(np.array(batch.ids)))


@pytest.mark.parametrize(
    ("section", "key", "message"),
    [("data", "version", "have version"), ("tokenizer", "digest", "has digest")],
)
def test_other_data_or_tokenizer_than_locked_are_refused(config, tmp_path, section, key, message):
    config[section][key] = "blake3:" + "0" * 64
    with pytest.raises(DataMismatch, match=f"{message}.*the config locks blake3:000"):
        open_training_data(config, tmp_path)


def test_plain_jsonl_is_packed_once(config, prepared, tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps({"text": f"word {n} " * 200}) + "\n" for n in range(5)))
    config["data"] |= {"path": str(path), "validation_path": str(path), "version": ""}
    data = open_training_data(config, tmp_path / "cache")
    assert len(data) > 10
    assert len(open_training_data(config, tmp_path / "cache")) == len(data)
    assert len(open_validation_data(config, tmp_path / "cache")) == len(data)


@pytest.mark.parametrize("names", [("a.0.jsonl", "a.1.jsonl"), ("web/a.jsonl", "code/a.jsonl")])
def test_files_of_one_name_are_all_trained_on(config, tmp_path, names):
    folder = tmp_path / "own"
    for name, word in zip(names, ("first", "second"), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps({"text": f"{word} " * 500}) + "\n")
    config["data"] |= {"path": str(folder), "version": ""}
    data = open_training_data(config, tmp_path / "cache")
    trained = tokenizer.load(Path(config["tokenizer"]["path"]))
    text = trained.decode(data.sequences(np.arange(len(data))).ravel().tolist())
    assert "first" in text
    assert "second" in text


def test_folder_without_data_is_told(config, tmp_path):
    config["data"] |= {"path": str(tmp_path), "version": ""}
    with pytest.raises(DataMismatch, match="holds neither prepared data nor JSONL files"):
        open_training_data(config, tmp_path / "cache")


def test_evaluation_disturbs_nothing(config, tmp_path):
    torch.manual_seed(3)
    network = Network(config["network"])
    evaluation = Evaluation(open_validation_data(config, tmp_path), ALONE)
    state = torch.get_rng_state()
    losses = evaluation.losses(network)
    assert torch.equal(torch.get_rng_state(), state)
    assert network.training
    assert set(losses) == {"reference"} or set(losses) == {"reference", "web"}
    assert mean(losses) == pytest.approx(sum(losses.values()) / len(losses))
    assert evaluation.losses(network) == losses


def test_accumulated_gradient_is_that_of_the_whole_batch(config, tmp_path):
    data = open_training_data(config, tmp_path)
    torch.manual_seed(0)
    network = Network(config["network"])
    gradients = []
    for accumulation in (1, 4):
        sampler = Sampler(len(data), global_batch=8, seed=1, accumulation=accumulation)
        network.zero_grad()
        for part in next(iter(Loader(data, sampler, ALONE.device))).micro:
            (loss_of(network, part) / accumulation).backward()
        gradients.append(network.blocks[0].attention.qkv.weight.grad.clone())
    assert torch.allclose(gradients[0], gradients[1], atol=1e-7)
