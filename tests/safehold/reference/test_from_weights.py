"""The reference trainer goes on from a base checkpoint: other data, the same weights."""

import json

import pytest
import safetensors.torch
import torch

import safehold
from safehold.config import config_hash
from safehold.data import version
from safehold.data.packed import Packed
from safehold.reference.network import Network, loss_of
from safehold.reference.processes import started
from safehold.reference.train import Trainer
from tests.safehold.reference.journals import read_run
from tests.safehold.reference.launching import tiny_config, tiny_data


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Train in this process, as one rank of a launcher would; return what was logged."""

    def run(config, run_id, **more):
        folder = tmp_path / f"attempt-of-{run_id}"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        told = {
            "SAFEHOLD_CONFIG": str(folder / "config.json"),
            "SAFEHOLD_CONFIG_HASH": config_hash(config),
            "SAFEHOLD_DIR": str(folder),
            "SAFEHOLD_RUN_ID": run_id,
            "SAFEHOLD_ATTEMPT": "1",
            "SAFEHOLD_CHECKPOINT_ROOT": str(tmp_path / "checkpoints"),
            **more,
        }
        for name, value in told.items():
            monkeypatch.setenv(name, value)
        with started() as processes:
            opened = safehold.init()
            Trainer(opened, processes).train()
            opened.finish()
        return folder, read_run(folder)

    return run


def other_documents(tmp_path):
    """Return a `[data]` of other text, packed by the trainer itself with the tokenizer of the base."""
    file = tmp_path / "other.jsonl"
    texts = (f"{name} is taught by {other}. " * 12 for name in dir(str) for other in dir(dict))
    rows = [json.dumps({"text": text, "domain": "other"}) for text in texts]
    file.write_text("\n".join(rows[:300]) + "\n")
    found = version.data_version([version.data_file(file, tmp_path)])
    return {"path": str(file), "version": found}


def test_the_first_loss_is_that_of_the_base_on_the_new_data(train, tmp_path):
    prepared = tiny_data(tmp_path / "data")
    small = {"steps": 30, "eval_every": 0}
    config = tiny_config(prepared, tmp_path / "checkpoints", train=small, compute={"devices": 1})
    _, base = train(config, "1")
    folder = tmp_path / "checkpoints" / "run-1" / "a1" / "step-30"

    tuned = tiny_config(
        prepared, tmp_path / "checkpoints", train=small | {"steps": 3}, compute={"devices": 1},
        data=other_documents(tmp_path), optimizer={"lr": 1e-4},
    )  # fmt: skip
    place, told = train(tuned, "2", SAFEHOLD_WEIGHTS_FROM=str(folder))

    network = Network(config["network"])
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    network.load_state_dict(weights, strict=False)
    batch = Packed(place / "packed" / "train", 32).sequences(told[1]["ids"])
    with torch.no_grad():
        expected = float(loss_of(network, torch.from_numpy(batch)))
    assert told[1]["train/loss"] == pytest.approx(expected, rel=1e-5)
    assert base[1]["train/loss"] - told[1]["train/loss"] > 0.5
    assert sorted(step for step, values in told.items() if "train/loss" in values) == [1, 2, 3]
