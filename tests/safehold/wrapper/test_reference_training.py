"""The real thing: wrapper, torchrun, two ranks of the reference trainer, real checkpoints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from safehold import wire
from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until

pytest.importorskip("torch")
pytestmark = pytest.mark.slow(20)
STEPS = 120


def start(
    folder: Path, config: dict[str, Any], server: IngestServer, *arguments: str, **more: str
) -> subprocess.Popen[bytes]:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    environ = {
        "OMP_NUM_THREADS": "1",
        "SAFEHOLD_URL": server.url,
        "SAFEHOLD_TOKEN": server.token,
        "SAFEHOLD_CONFIG": str(folder / "config.json"),
        "SAFEHOLD_RUN_ID": "7",
        "SAFEHOLD_CHECKPOINT_ROOT": config["checkpoint"]["root"],
    }
    command = [sys.executable, "-m", "safehold.wrapper", "--dir", str(folder), "--nproc", "2"]
    return subprocess.Popen(
        [*command, "--", sys.executable, "-m", "safehold.reference.train", *arguments],
        env=os.environ | environ | more,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def test_a_training_is_paused_stopped_and_resumed_without_a_gap(
    tmp_path: Path, server: IngestServer
) -> None:
    from tests.safehold.reference.launching import tiny_config, tiny_data

    changes = {"train": {"steps": STEPS}, "checkpoint": {"anchor_every_steps": 1000}}
    config = tiny_config(tiny_data(tmp_path / "data"), tmp_path / "checkpoints", **changes)
    first = start(tmp_path / "a1", config, server, "--pace", "0.1", SAFEHOLD_ATTEMPT="1")
    try:
        for number, kind in enumerate(["save", "pause", "resume"], start=1):
            wait_until(lambda: server.held.heartbeats[-1:] and len(server.values("lr")) > 3, 120)
            server.held.commands.append(wire.Command(number, kind))  # type: ignore[arg-type]
            wait_until(lambda n=number: len(server.held.applied) == n, 60)
        first.send_signal(signal.SIGTERM)
        assert first.wait(60) == 0
    finally:
        first.kill()
    assert json.loads((tmp_path / "a1" / "exit.json").read_text())["outcome"] == "stopped"
    assert [applied.outcome for applied in server.held.applied] == ["applied"] * 3
    complete = [r for r in server.held.registrations if r["state"] == "complete"]
    last = complete[-1]
    stopped_at = last["manifest"]["step"]
    assert server.events("lifecycle")[-1]["what"] == "stopped"

    server.held.commands.clear()
    more = {"SAFEHOLD_ATTEMPT": "2", "SAFEHOLD_RESUME_FROM": last["path"]}
    steps_before = {r["step"] for r in server.held.records.values() if "lr" in r["values"]}
    assert max(steps_before) == stopped_at
    second = start(tmp_path / "a2", config, server, **more)
    try:
        assert second.wait(240) == 0
    finally:
        second.kill()
    assert json.loads((tmp_path / "a2" / "exit.json").read_text())["outcome"] == "finished"
    steps = [r["step"] for r in server.held.records.values() if "lr" in r["values"]]
    assert sorted(steps) == list(range(1, STEPS + 1))
    # No interval falls on the last step: it is saved all the same.
    assert server.held.registrations[-1]["state"] == "complete"
    assert server.held.registrations[-1]["manifest"]["step"] == STEPS
