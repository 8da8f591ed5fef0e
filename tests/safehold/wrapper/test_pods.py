"""The wrapper as pods start it: all from the environment, several nodes, real torchrun."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until

ENVIRONMENT_SEEN = (
    "import os, pathlib; pathlib.Path('seen').write_bytes(open('/proc/self/environ', 'rb').read())"
)


def pod(
    folder: Path, command: list[str], *options: str, index: int = 0, **environ: str
) -> subprocess.Popen[bytes]:
    """Start what a pod starts; `folder` stands for its file system."""
    folder.mkdir(exist_ok=True)
    given = {
        "SAFEHOLD_POD": folder.name,
        "SAFEHOLD_POD_IP": "127.0.0.1",
        "SAFEHOLD_TERMINATION_LOG": str(folder / "termination-log"),
        "JOB_COMPLETION_INDEX": str(index),
        "OMP_NUM_THREADS": "1",
    }
    wrapper = [sys.executable, "-m", "safehold.wrapper", "--dir", str(folder / "files")]
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(
            [*wrapper, *options, "--", *command],
            env=os.environ | given | environ,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def told(folder: Path) -> dict[str, Any]:
    """Return the termination message."""
    found: dict[str, Any] = json.loads((folder / "termination-log").read_text())
    return found


def test_the_ranks_inherit_no_secret_and_find_both_in_files(tmp_path: Path) -> None:
    secrets = {"SAFEHOLD_TOKEN": "sha_secret", "SAFEHOLD_CONFIG_JSON": '{"name": "x"}'}
    assert pod(tmp_path / "a-0", [sys.executable, "-c", ENVIRONMENT_SEEN], **secrets).wait(60) == 0
    seen = (tmp_path / "a-0" / "seen").read_bytes()
    assert b"sha_secret" not in seen
    assert b"SAFEHOLD_CONFIG_JSON" not in seen
    values = dict(pair.split(b"=", 1) for pair in seen.split(b"\0") if pair)
    assert Path(os.fsdecode(values[b"SAFEHOLD_TOKEN_FILE"])).read_text() == "sha_secret"
    assert json.loads(Path(os.fsdecode(values[b"SAFEHOLD_CONFIG"])).read_text()) == {"name": "x"}


def test_nothing_that_runs_can_read_the_secrets_of_the_first_process(tmp_path: Path) -> None:
    secrets = {"SAFEHOLD_TOKEN": "sha_secret", "SAFEHOLD_CONFIG_JSON": '{"name": "hidden"}'}
    code = "import pathlib, signal; pathlib.Path('begun').touch(); signal.pause()"
    process = pod(tmp_path / "a-0", [sys.executable, "-c", code], **secrets)
    wait_until(lambda: (tmp_path / "a-0" / "begun").exists(), 60)
    everybody = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    assert len(everybody) >= 3
    for one in everybody:
        held = Path(f"/proc/{one.pid}/environ").read_bytes()
        assert b"sha_secret" not in held
        assert b"hidden" not in held
        assert b"SAFEHOLD_TOKEN_FILE" in held
    process.send_signal(signal.SIGTERM)
    process.wait(60)


def test_a_folder_that_was_replaced_is_the_one_of_the_second_beginning(tmp_path: Path) -> None:
    (tmp_path / "a-0").mkdir()
    (tmp_path / "a-0" / "files").write_text("in the way")
    code = "import os, pathlib; pathlib.Path('seen').write_text(os.environ['SAFEHOLD_DIR'])"
    command = [sys.executable, "-c", code]
    assert pod(tmp_path / "a-0", command, SAFEHOLD_TOKEN="sha_secret").wait(60) == 0
    folder = Path((tmp_path / "a-0" / "seen").read_text())
    assert (folder / "token").read_text() == "sha_secret"
    assert (folder / "exit.json").exists()
    assert (tmp_path / "a-0" / "output").read_text().count("cannot be used") == 1


def test_the_end_is_the_termination_message_and_names_the_pod(tmp_path: Path) -> None:
    assert pod(tmp_path / "a-0", ["/no/such/program"]).wait(60) == 1
    end = told(tmp_path / "a-0")
    assert (end["pod"], end["outcome"]) == ("a-0", "could_not_start")


def test_an_end_that_cannot_be_written_is_the_last_line_of_the_output(tmp_path: Path) -> None:
    nowhere = {"SAFEHOLD_TERMINATION_LOG": "/proc/no/such/file"}
    code = "import sys; print('x' * 5000); sys.exit('the disk is full')"
    assert pod(tmp_path / "a-0", [sys.executable, "-c", code], **nowhere).wait(60) == 1
    last = (tmp_path / "a-0" / "output").read_bytes().splitlines()[-1]
    assert len(last) <= 2048
    assert json.loads(last)["message"] == "Rank 0 ended with exit code 1: the disk is full"


def test_outside_a_pod_no_termination_message_is_written(tmp_path: Path) -> None:
    outside = {"SAFEHOLD_POD": "", "SAFEHOLD_TERMINATION_LOG": ""}
    assert pod(tmp_path / "a-0", ["true"], **outside).wait(60) == 0
    assert (tmp_path / "a-0" / "output").read_text() == ""


def test_a_node_that_is_stopped_while_it_waits_for_the_others_ends_at_once(tmp_path: Path) -> None:
    options = ("--nnodes", "2", "--rdzv-endpoint", "localhost:1")
    waiting = pod(tmp_path / "a-1", ["true"], *options, index=1, SAFEHOLD_URL="")
    wait_until(lambda: (tmp_path / "a-1" / "files" / "wrapper.json").exists(), 30)
    waiting.send_signal(signal.SIGTERM)
    assert waiting.wait(30) == 0
    assert (told(tmp_path / "a-1")["outcome"], told(tmp_path / "a-1")["signal"]) == ("stopped", 15)


def test_a_node_that_finds_no_other_says_so(tmp_path: Path) -> None:
    options = ("--nnodes", "2", "--rdzv-endpoint", "localhost:1", "--meet-seconds", "1")
    assert pod(tmp_path / "a-1", ["true"], *options, index=1, SAFEHOLD_URL="").wait(60) == 1
    end = told(tmp_path / "a-1")
    assert end["outcome"] == "could_not_start"
    assert end["message"].startswith("Node 1 reached nobody at localhost:1 within 1 s")


@pytest.mark.slow(20)
@pytest.mark.parametrize(("way", "ranks"), [("control plane", "2"), ("names", "1")])
def test_two_nodes_train_together(
    tmp_path: Path, server: IngestServer, way: str, ranks: str
) -> None:
    pytest.importorskip("torch")
    from tests.safehold.reference.launching import tiny_config, tiny_data

    config = tiny_config(tiny_data(tmp_path / "data"), tmp_path / "ckpt", train={"steps": 6})
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    host = "localhost" if way == "names" else "pod-0.nowhere.invalid"
    environ = {
        "SAFEHOLD_URL": server.url if way == "control plane" else "",
        "SAFEHOLD_TOKEN": server.token,
        "SAFEHOLD_CONFIG_JSON": json.dumps(config),
        "SAFEHOLD_RUN_ID": "7",
        "SAFEHOLD_ATTEMPT": "1",
        "SAFEHOLD_CHECKPOINT_ROOT": str(tmp_path / "ckpt"),
    }
    options = ("--nproc", ranks, "--nnodes", "2", "--rdzv-endpoint", f"{host}:{port}")
    command = [sys.executable, "-m", "safehold.reference.train"]
    # The one who is asked starts last: the other has to wait.
    pods = [pod(tmp_path / f"a-{i}", command, *options, index=i, **environ) for i in (1, 0)]
    try:
        codes = [process.wait(240) for process in pods]
    finally:
        for process in pods:
            process.kill()
    outputs = [(tmp_path / f"a-{i}" / "output").read_text()[-3000:] for i in (0, 1)]
    assert codes == [0, 0], outputs
    assert [told(tmp_path / f"a-{i}")["outcome"] for i in (0, 1)] == ["finished", "finished"]
    if way == "names":
        return
    assert [sorted(told(tmp_path / f"a-{i}")["ranks"]) for i in (0, 1)] == [["0", "1"], ["2", "3"]]
    assert server.held.rendezvous == {"address": "127.0.0.1", "port": port}
    assert sorted(set(server.held.ranks.values())) == [0, 1, 2, 3]
    assert sorted(told["node"] for told in server.held.exits) == [0, 1]
    logs = {"rank-0", "rank-1", "rank-2", "rank-3", "wrapper", "wrapper-1"}
    assert set(server.held.logs) == logs


def test_a_config_that_cannot_be_read_keeps_no_end_from_being_sent(
    tmp_path: Path, server: IngestServer
) -> None:
    environ = {"SAFEHOLD_URL": server.url, "SAFEHOLD_TOKEN": server.token}
    program = [sys.executable, "-m", "tests.safehold.scripts.trainer", "finish"]
    away = pod(
        tmp_path / "a-0", program, SAFEHOLD_CONFIG_JSON="[]", PYTHONPATH=os.getcwd(), **environ
    )  # fmt: skip
    assert away.wait(60) == 1
    assert "must hold a map" in server.held.exits[0]["exit"]["message"]
    assert b"must hold a map" in server.held.logs["rank-0"]
