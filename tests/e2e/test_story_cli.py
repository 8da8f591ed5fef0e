"""The story by the command line alone: card, config, preflight, launch, watch, stop, resume, verify, fork, lineage.

Everything is real: web server, Celery worker, trainer, checkpoints on disk.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from safehold.config import parse, to_toml
from tests.live_service import LiveService
from tests.safehold.reference.launching import paced

pytestmark = [pytest.mark.e2e, pytest.mark.slow(45), pytest.mark.timeout(420)]

CARD = """
name = "Story"
question = "Does a small network learn?"
task_form = "open_generation"
acceptance = [{ metric = "loss", split = "val", threshold = 6.0 }]

[network]
parameters = 70e9

[data]
tokens = 100_000_000_000

[compute]
devices = 512
peak_tflops_per_device = 300
mfu = 0.5
"""


@dataclass(frozen=True)
class Shell:
    """The `safehold` command, as a person on this machine runs it."""

    service: LiveService
    folder: Path

    def __call__(self, *words: object, code: int = 0) -> dict[str, Any]:
        ran = subprocess.run(
            [sys.executable, "-m", "safehold.cli", *map(str, words), "--json"],
            cwd=self.folder, env=self.service.env | {"SAFEHOLD_URL": self.service.url},
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert ran.returncode == code, (
            f"{words} ended with {ran.returncode}: {ran.stdout}{ran.stderr}"
        )
        document: dict[str, Any] = json.loads(ran.stdout) if ran.stdout else {"stderr": ran.stderr}
        return document


@pytest.fixture
def safehold(live_service: LiveService, tmp_path: Path) -> Shell:
    from controlplane.service import accounts

    accounts.seed(live_service.home)
    return Shell(live_service, tmp_path)


@pytest.fixture
def config_file(live_service: LiveService, tmp_path: Path) -> Path:
    """A config of the reference trainer on a small real corpus, long enough to be stopped in its middle."""
    from safehold.reference.config import demo_config
    from safehold.reference.corpus import prepare
    from safehold.reference.sources import texts

    prepared = prepare(tmp_path / "corpus", source=islice(texts(), 60))
    document = demo_config(prepared, root=live_service.home / "checkpoints", steps=4000, devices=1)
    document["network"] |= {"layers": 2, "hidden": 64}
    document["checkpoint"] |= {"anchor_every_steps": 20, "snapshot_every_steps": 0}
    document["code"] = paced()
    path = tmp_path / "run.toml"
    path.write_text(to_toml(parse(document)))
    return path


def losses(safehold: Shell, run: int) -> dict[int, float]:
    """Return the loss of every step that the newest attempts stand for."""
    answer = safehold(
        "run", "metrics", run, "--name", "train/loss", "--x", "step", "--points", 20_000
    )
    parts = [part for part in answer["series"][0]["parts"] if not part["superseded"]]
    return {
        step: value
        for part in parts
        for step, value in zip(part["steps"], part["values"], strict=True)
    }


def test_the_story_by_the_command_line(safehold: Shell, config_file: Path, tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text(CARD)
    card = safehold("card", "create", "card.toml")
    assert card["estimate"]["flops"] == 4.2e22

    _refuse_what_cannot_work(safehold, config_file)
    config = safehold("config", "create", config_file, "--card", card["id"])
    assert safehold("preflight", config_file)["config_hash"] == config["hash"]
    assert safehold("config", "preflight", config["id"])["verdict"] in {"pass", "warn"}

    run = safehold("run", "create", config["id"], "--launch")["id"]
    safehold(
        "run", "wait", run, "--state", "failed,could_not_start", "--step", 25, "--timeout", 120
    )
    assert safehold("run", "show", run)["state"] == "running"

    safehold("run", "stop", run, "--reason", "enough for now")
    stopped = safehold("run", "wait", run, "--state", "stopped", "--timeout", 60)
    before = losses(safehold, run)
    checkpoint = _newest_verified(safehold, run)
    assert checkpoint["step"] == stopped["attempts"][0]["step"] == max(before)

    safehold("run", "resume", run)
    safehold(
        "run", "wait", run, "--state", "failed", "--step", checkpoint["step"] + 10, "--timeout", 120
    )
    resumed = safehold("run", "show", run)
    assert [one["number"] for one in resumed["attempts"]] == [2, 1]
    assert resumed["attempts"][0]["from_checkpoint"] == checkpoint["id"]
    safehold("run", "stop", run)
    safehold("run", "wait", run, "--state", "stopped", "--timeout", 60)
    after = losses(safehold, run)
    assert sorted(after) == list(range(1, max(after) + 1))
    assert {step: after[step] for step in before} == before

    fork = safehold(
        "run", "fork", run, "--checkpoint", checkpoint["id"], "--name", "fork", "--launch"
    )
    assert (fork["parent"], fork["from_checkpoint"]) == (run, checkpoint["id"])
    safehold(
        "run",
        "wait",
        fork["id"],
        "--state",
        "failed",
        "--step",
        checkpoint["step"] + 5,
        "--timeout",
        120,
    )
    safehold("run", "stop", fork["id"], "--force")
    safehold("run", "wait", fork["id"], "--state", "stopped,failed", "--timeout", 60)

    _look_back(safehold, run, fork["id"], checkpoint["id"])


def _refuse_what_cannot_work(safehold: Shell, config_file: Path) -> None:
    """A config that cannot work is refused with its field; a run of one with another tokenizer never starts."""
    text = config_file.read_text()
    bad = config_file.with_name("bad.toml")
    bad.write_text(text.replace("lr = 0.003", 'lr = "3e-3"'))
    refused = safehold("config", "create", bad, code=1)
    assert [one["evidence"]["field"] for one in refused["findings"]] == ["optimizer.lr"]

    digest = next(line for line in text.splitlines() if line.startswith("digest"))
    bad.write_text(text.replace(digest, f'digest = "blake3:{"0" * 64}"'))
    refused = safehold("run", "create", bad, "--launch", code=1)
    assert {one["code"] for one in refused["findings"]} == {"TOK-1.lock"}


def _newest_verified(safehold: Shell, run: int) -> dict[str, Any]:
    found: dict[str, Any] = safehold("checkpoint", "list", "--run", run)["items"][0]
    assert safehold("checkpoint", "verify", found["id"])["verdict"] == "pass"
    assert safehold("verify", found["path"])["verdict"] == "pass"
    shown = safehold("checkpoint", "show", found["id"])
    assert shown["state"] in {"verified", "stable"}
    return shown


def _look_back(safehold: Shell, run: int, fork: int, checkpoint: int) -> None:
    """Timeline, log, difference, lineage and export tell what happened."""
    kinds = {one["kind"] for one in safehold("run", "events", run, "--limit", 200)["items"]}
    assert {"created", "launch", "stop", "resume"} <= kinds
    assert safehold("run", "logs", run, "--attempt", 1)["next"] > 0
    assert safehold("run", "diff", run, fork)["changes"] == []
    assert fork in {one["id"] for one in safehold("run", "lineage", run)["forks"]}
    edges = {
        (edge["from"], edge["kind"])
        for edge in safehold("checkpoint", "lineage", checkpoint)["edges"]
    }
    assert (f"checkpoint:{checkpoint}", "started") in edges
    whole = safehold("run", "export", run)
    assert whole["run"]["id"] == run
    assert whole["config"]["hash"] == whole["run"]["config_hash"]
    assert safehold("run", "show", 999_999, code=2)["stderr"].startswith(
        "safehold: There is no run 999999"
    )
