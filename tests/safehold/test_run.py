from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import safehold
from safehold import wire
from safehold.checkpointing.start import Start
from safehold.journal import Reader, to_batch
from safehold.replay import journals
from safehold.run import Run
from safehold.statusfile import read_status
from tests.fakes.ingest_server import IngestServer
from tests.waiting import wait_until


@pytest.fixture
def run(environ: dict[str, str]) -> Iterator[Run]:
    made = safehold.init(environ)
    yield made
    made.finish()


class Saver:
    """A checkpointer as the run sees it."""

    def __init__(self, error: str = "") -> None:
        self.saved: list[int] = []
        self._error = error

    def save(self, step: int, kind: str = "anchor") -> None:
        if self._error:
            raise OSError(self._error)
        self.saved.append(step)

    def flush(self) -> None:
        pass


def with_saver(run: Run, error: str = "") -> Saver:
    saver = Saver(error)
    run._checkpointer = saver  # type: ignore[assignment]
    return saver


def last_values(server: IngestServer) -> dict[str, float]:
    values: dict[str, float] = max(server.held.records.items())[1]["values"]
    return values


def test_importing_the_library_loads_neither_torch_nor_the_network() -> None:
    probe = (
        "import sys, safehold, safehold.wire, safehold.journal, safehold.findings;"
        "print([m for m in ('torch', 'httpx', 'django') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", probe], text=True).strip() == "[]"


def test_what_is_logged_arrives_with_step_tokens_and_raw_values(
    run: Run, server: IngestServer
) -> None:
    run.log(3, {"train/loss": math.nan, "lr": np.float32(0.5), "n": 7}, tokens=1536)
    run.finish()
    (record,) = [r for r in server.held.records.values() if "lr" in r["values"]]
    assert (record["step"], record["tokens"]) == (3, 1536)
    assert math.isnan(record["values"]["train/loss"])
    assert (record["values"]["lr"], record["values"]["n"]) == (0.5, 7.0)
    assert record["values"]["memory/rss_bytes"] > 2**20
    assert journals(run.folder) == []


def test_a_tensor_of_one_element_is_read_and_a_vector_is_told(
    run: Run, server: IngestServer
) -> None:
    torch = pytest.importorskip("torch")
    loss = (torch.ones(()) * 2.5).requires_grad_()
    run.log(1, {"loss": loss, "vector": torch.zeros(3), "text": "a"})
    run.log(2, {"loss": loss, "vector": torch.zeros(3)})
    run.finish()
    assert server.values("loss") == [2.5, 2.5]
    texts = [data["text"] for data in server.events("message")]
    assert sorted(texts) == [
        "The metric 'text' was left out: its value is a str, not one number.",
        "The metric 'vector' was left out: its value is a Tensor, not one number.",
    ]


def test_a_bad_name_or_step_costs_only_itself_and_is_told(run: Run, server: IngestServer) -> None:
    run.log(1, {"bad\nname": 1.0, "good": 2.0})
    run.log(-1, {"good": 3.0})
    run.log("x", {"good": 4.0})  # type: ignore[arg-type]
    run.log(2, {"good": 5.0, 7: 1.0})  # type: ignore[dict-item]
    run.finish()
    assert server.values("good") == [2.0, 5.0]
    texts = " ".join(data["text"] for data in server.events("message"))
    assert "control character U+000A" in texts
    assert "not -1" in texts
    assert "not 'x'" in texts
    assert "name is not text" in texts


def test_evaluations_samples_and_batch_ids_are_events(run: Run, server: IngestServer) -> None:
    run.log(5, {"loss": 1.0}, batch_ids=np.array([4, 9]))
    run.log_eval("loss", "validation", math.inf)
    run.log_samples(["once upon"], step=4)
    run.finish()
    assert server.events("batch_ids") == [{"ids": [4, 9]}]
    assert server.events("eval") == [{"name": "loss", "split": "validation", "value": "Infinity"}]
    assert server.values("validation/loss") == [math.inf]
    assert server.events("samples") == [{"name": "samples", "items": ["once upon"]}]


@pytest.mark.parametrize("ids", [[np.int64(3), np.int64(5)], np.array([3, 5])])
def test_ids_of_a_batch_are_taken_as_a_loader_collects_them(
    run: Run, server: IngestServer, ids: Any
) -> None:
    run.log(1, {"loss": 1.0}, batch_ids=ids)
    run.finish()
    assert server.events("batch_ids") == [{"ids": [3, 5]}]


@pytest.mark.parametrize(
    ("ids", "why"), [([object()], "holds a object"), (["x" * 1000] * 3000, "larger than 2,097,152")]
)
def test_an_event_that_cannot_be_kept_costs_no_metrics_and_is_told_once(
    run: Run, server: IngestServer, ids: Any, why: str
) -> None:
    for step in (1, 2):
        run.log(step, {"loss": step / 2}, batch_ids=ids)
    run.finish()
    assert server.values("loss") == [0.5, 1.0]
    assert server.events("batch_ids") == []
    (told,) = server.events("message")
    assert why in told["text"]


@pytest.mark.parametrize("values", [None, 5, [1.0], "loss"])
def test_values_that_are_no_map_are_told_and_never_raise(
    run: Run, server: IngestServer, values: Any
) -> None:
    run.log(1, values)
    run.log_samples(values)
    run.log(2, {"loss": 1.0})
    run.finish()
    assert server.values("loss") == [1.0]
    assert "must be a map" in server.events("message")[0]["text"]
    assert server.events("samples")[0]["items"] == (values if values == [1.0] else [values])


def test_an_evaluation_that_every_rank_tells_is_kept_once(
    environ: dict[str, str], server: IngestServer
) -> None:
    other = safehold.init(environ | {"RANK": "1", "WORLD_SIZE": "2"})
    other.log_eval("loss", "validation", 2.5, 1)
    other.log_eval("loss/own", "validation", 3.5, 1, every_rank=True)
    other.finish()
    assert [event["name"] for event in server.events("eval")] == ["loss/own"]
    assert server.values("validation/loss") == []


def test_speed_and_waiting_are_measured_between_logs(
    environ: dict[str, str], tmp_path: Path, server: IngestServer
) -> None:
    config = tmp_path / "config.json"
    network = {"layers": 2, "hidden": 8, "sequence_length": 16}
    config.write_text(json.dumps({"network": network, "compute": {"peak_tflops_per_device": 1e-6}}))
    run = safehold.init(environ | {"SAFEHOLD_CONFIG": str(config)})
    run._meter.parameters = 1000
    for step, _ in run.steps([1, 2, 3]):
        run.log(step, {}, tokens=step * 100)
    run.finish()
    values = last_values(server) or server.held.records
    rates = server.values("throughput/tokens_per_second")
    assert len(rates) == 2
    mfu = server.values("throughput/mfu")
    assert mfu[0] == pytest.approx(rates[0] * (6 * 1000 + 12 * 2 * 8 * 16) / 1e6)
    assert min(server.values("time/data_wait_seconds")) >= 0
    assert min(server.values("time/step_seconds")) > 0
    assert values is not None


def test_offline_everything_goes_to_the_journal(tmp_path: Path) -> None:
    run = safehold.init({"SAFEHOLD_DIR": str(tmp_path)})
    assert isinstance(run, safehold.OfflineRun)
    for step, _ in run.steps(range(5)):
        run.log(step, {"loss": 1.0})
    run.finish()
    assert read_status(tmp_path, 0) == "finished"
    (folder,) = journals(tmp_path)
    batch = to_batch(0, "0" * 32, 1, Reader(folder).read().records)
    loss = batch.column("loss")
    assert loss is not None
    assert loss.num_points == 5


def test_other_ranks_keep_only_what_the_library_measures(
    environ: dict[str, str], server: IngestServer
) -> None:
    run = safehold.init(environ | {"RANK": "1", "WORLD_SIZE": "2"})
    run.log(1, {"loss": 1.0})
    run.log(2, {"loss": 2.0}, every_rank=True)
    run.finish()
    assert server.values("loss") == [2.0]
    assert len(server.values("memory/rss_bytes")) == 1
    assert set(server.held.ranks.values()) == {1}


@pytest.mark.parametrize("start", [Start(), Start(step=5, takes="state")])
def test_tokens_that_nobody_tells_are_unknown(run: Run, server: IngestServer, start: Start) -> None:
    """Else all points would stand above 0 on a chart by tokens."""
    for step, _ in run.steps(range(3), start=start):
        run.log(step, {"loss": 1.0})
    run.finish()
    assert {record["tokens"] for record in server.held.records.values()} == {-1}


def test_tokens_go_on_where_the_checkpoint_was(run: Run, server: IngestServer) -> None:
    for step, _ in run.steps(range(2), start=Start(step=5, tokens=500, takes="state")):
        if step == 7:
            run.log(step, {"loss": 1.0}, tokens=700)
    run.finish()
    assert server.values("throughput/tokens_per_second")[0] > 0


def test_steps_go_on_after_the_start_and_end_at_the_stop(run: Run) -> None:
    assert [step for step, _ in run.steps(range(100), start=7, stop=10)] == [8, 9, 10]
    assert not run.stopped


def test_a_save_is_done_at_a_step_boundary_and_reported(run: Run, server: IngestServer) -> None:
    saver = with_saver(run)
    server.held.commands.append(wire.Command(1, "save"))
    for step, _ in run.steps(iter(int, 1)):
        if server.held.applied:
            break
        run.log(step, {"loss": 1.0})
    assert len(saver.saved) == 1
    assert server.held.applied == [wire.Applied(1, "applied", f"Saved step {saver.saved[0]}.")]


def test_a_save_that_fails_is_refused_and_training_goes_on(run: Run, server: IngestServer) -> None:
    with_saver(run, error="read-only")
    server.held.commands.append(wire.Command(1, "save"))
    for _ in run.steps(iter(int, 1)):
        if server.held.applied:
            break
    assert server.held.applied[0].outcome == "refused"
    assert "was not saved: read-only" in server.held.applied[0].message


def test_pause_holds_with_a_heartbeat_until_resume(run: Run, server: IngestServer) -> None:
    saver = with_saver(run)
    server.held.commands.append(wire.Command(1, "pause"))
    phases = server.held.heartbeats

    def resume_once_paused() -> None:
        wait_until(lambda: phases and phases[-1].phase == "paused")
        assert read_status(run.folder, 0) == "paused"
        server.held.commands.append(wire.Command(2, "resume"))

    import threading

    person = threading.Thread(target=resume_once_paused)
    person.start()
    for step, _ in run.steps(iter(int, 1)):
        if len(server.held.applied) == 2:
            break
        run.log(step, {})
    person.join()
    run.finish()
    assert len(saver.saved) == 1
    assert [a.outcome for a in server.held.applied] == ["applied", "applied"]
    told = [data["what"] for data in server.events("lifecycle")]
    assert told == ["started", "paused", "resumed", "finished"]


def test_save_and_stop_while_paused_ends_the_loop(run: Run, server: IngestServer) -> None:
    saver = with_saver(run)
    server.held.commands.append(wire.Command(1, "pause"))
    server.held.commands.append(wire.Command(2, "save_and_stop"))
    steps = [step for step, _ in run.steps(iter(int, 1))]
    assert run.stopped
    run.finish()
    assert saver.saved == [steps[-1] if steps else 0] * 2
    assert read_status(run.folder, 0) == "stopped"
    assert server.events("lifecycle")[-1]["what"] == "stopped"
    assert server.held.heartbeats[-1].phase == "finished"


def test_a_stop_whose_save_fails_is_no_stop(run: Run, server: IngestServer) -> None:
    with_saver(run, error="disk full")
    server.held.commands.append(wire.Command(1, "save_and_stop"))
    with pytest.raises(OSError, match="disk full"):
        for _ in run.steps(iter(int, 1)):
            pass
    assert not run.stopped
    assert read_status(run.folder, 0) is None


def test_a_resume_without_a_pause_is_refused(run: Run, server: IngestServer) -> None:
    server.held.commands.append(wire.Command(1, "resume"))
    for _ in run.steps(iter(int, 1)):
        if server.held.applied:
            break
    assert server.held.applied == [wire.Applied(1, "refused", "The run is not paused.")]


def test_sigterm_in_the_loop_saves_and_stops(run: Run) -> None:
    saver = with_saver(run)
    for step, _ in run.steps(iter(int, 1)):
        if step == 3:
            os.kill(os.getpid(), signal.SIGTERM)
    assert run.stopped
    assert saver.saved == [3]


def test_a_forked_worker_ends_by_sigterm_and_logs_nothing(run: Run, server: IngestServer) -> None:
    for step, _ in run.steps(range(3)):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            run.log(step, {"from/worker": 1.0})
            os.write(writing, b"x")
            while True:  # a pause would miss a signal that came just before it
                select.select([], [], [], 0.01)
        os.read(reading, 1)  # Python forgets a signal that comes while it is being forked
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    run.finish()
    assert server.values("from/worker") == []
    assert not run.stopped


def test_sigterm_before_the_first_step_ends_with_success(run: Run) -> None:
    with pytest.raises(safehold.Stopped) as caught:
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == 0
    assert read_status(run.folder, 0) == "stopped"


@pytest.mark.parametrize("state", ["complete", "failed"])
def test_a_loop_of_the_scripts_own_trains_on_after_a_save(run: Run, state: str) -> None:
    run.log(1, {"loss": 1.0})
    run.register_checkpoint(path="/c/step-1", manifest={"step": 1}, state="writing")
    assert run.phase == "saving"
    run.register_checkpoint(path="/c/step-1", manifest={"step": 1}, state=state)
    assert run.phase == "training"
    with pytest.raises(SystemExit) as caught:
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == 128 + signal.SIGTERM


def test_sigterm_in_a_save_lets_it_finish_and_then_ends_the_scripts_own_loop(
    run: Run, server: IngestServer
) -> None:
    run.log(1, {"loss": 1.0})
    run.register_checkpoint(path="/c/step-1", manifest={"step": 1}, state="writing")
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(SystemExit) as caught:
        run.register_checkpoint(path="/c/step-1", manifest={"step": 1}, state="complete")
    assert caught.value.code == 128 + signal.SIGTERM
    run.finish()
    assert [r["state"] for r in server.held.registrations] == ["writing", "complete"]


def test_sigterm_in_an_evaluation_ends_the_scripts_own_loop(run: Run) -> None:
    run.log(1, {"loss": 1.0})
    with pytest.raises(SystemExit), run.evaluating():
        os.kill(os.getpid(), signal.SIGTERM)


def test_registrations_survive_an_outage(environ: dict[str, str], server: IngestServer) -> None:
    server.away = "503"
    run = safehold.init(environ)
    manifest = {"step": 5, "tokens": 50, "kind": "anchor", "note": "x"}
    run.register_checkpoint(path="/c/step-5", manifest=manifest, state="writing")
    run.register_checkpoint(path="/c/step-5", manifest=manifest, state="complete")
    run.finish(timeout_seconds=0.2)
    assert server.held.registrations == []
    server.away = None
    again = safehold.init(environ)
    wait_until(lambda: len(server.held.registrations) == 2)
    wait_until(lambda: len(journals(again.folder)) == 1)
    again.finish()
    assert [r["state"] for r in server.held.registrations] == ["writing", "complete"]
    assert server.held.registrations[1]["manifest"] == manifest
    assert [data["state"] for data in server.events("checkpoint")] == ["writing", "complete"]


CRASHES = """
import os, signal, sys, safehold
run = safehold.init()
for step, _ in run.steps(range(1, 500)):
    run.log(step, {"loss": float(step)}, tokens=step)
    if step == 321:
        if sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise RuntimeError("boom")
"""


def crash(how: str, environ: dict[str, str]) -> int:
    command = [sys.executable, "-c", CRASHES, how]
    return subprocess.run(command, env=os.environ | environ, capture_output=True).returncode


def test_a_script_that_raises_still_sends_everything_and_why(
    environ: dict[str, str], server: IngestServer
) -> None:
    assert crash("raise", environ) == 1
    assert server.values("loss") == [float(step) for step in range(1, 322)]
    assert server.events("lifecycle")[-1]["error"] == "RuntimeError: boom"


@pytest.mark.parametrize("away", [None, "503"])
def test_what_a_killed_script_left_is_sent_by_the_next_start(
    environ: dict[str, str], server: IngestServer, away: Any
) -> None:
    server.away = away
    assert crash("kill", environ) == -signal.SIGKILL
    server.away = None
    run = safehold.init(environ)
    wait_until(lambda: len(server.values("loss")) == 321)
    run.finish()
    assert server.values("loss") == [float(step) for step in range(1, 322)]
