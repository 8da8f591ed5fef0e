"""The verification task on real files: written by the checkpointer, or met in the field."""

import datetime as dt
import json
import shutil
import threading
from pathlib import Path

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from checkpoints.models import Checkpoint, Verification
from checkpoints.selectors import newest_for_resume
from checkpoints.services import claims, registry, sweep
from checkpoints.states import State
from runs.models import Attempt, Config, Event
from safehold.manifest import read
from tests.checkpoints.makers import CASES, end, make_checkpoint, path_of
from tests.factories import make_attempt
from tests.safehold.checkpointing.training import Training, step_folder
from workers import proving
from workers.tasks.verify import verify, verify_left_behind

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def root(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    settings.SAFEHOLD_CHECKPOINT_ROOT = tmp_path / "root"
    settings.SAFEHOLD_CHECKPOINT_ROOT.mkdir()
    return settings.SAFEHOLD_CHECKPOINT_ROOT


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict]]:
    sent: list[tuple[str, dict]] = []
    monkeypatch.setattr(
        "controlplane.common.queue.current_app.send_task",
        lambda name, kwargs, **rest: sent.append((name, kwargs)),
    )
    return sent


def trained(attempt: Attempt, step: int = 2, source: Path | None = None) -> Checkpoint:
    """Save with the real checkpointer, at the place of this attempt, and register it."""
    place = path_of(attempt, step)
    training = Training(place.parents[3] / "written" / str(attempt.pk))
    training.steps(step)
    training.checkpointer.save(step)
    shutil.copytree(step_folder(place.parents[3] / "written" / str(attempt.pk), step), place)
    return registered(attempt, place)


def from_case(attempt: Attempt, name: str) -> Checkpoint:
    place = path_of(attempt, 200)
    shutil.copytree(CASES / name, place)
    return registered(attempt, place)


def registered(attempt: Attempt, place: Path) -> Checkpoint:
    manifest = json.loads((place / "manifest.json").read_text())
    Config.objects.filter(runs=attempt.run_id).update(hash=manifest.get("config_hash", ""))
    return registry.register(attempt=attempt, path=str(place), manifest=manifest, state="complete")


def proof_of(checkpoint: Checkpoint) -> Verification:
    return checkpoint.verifications.latest("pk")


def run_verify(checkpoint: Checkpoint) -> Verification:
    verify(verification_id=proof_of(checkpoint).pk)
    checkpoint.refresh_from_db()
    return proof_of(checkpoint)


def failures(proof: Verification) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in proof.findings:
        if item["severity"] == "fail":
            found[item["code"]] = f"{found.get(item['code'], '')} {item['message']}".strip()
    return found


def test_what_the_checkpointer_wrote_is_proved():
    checkpoint = trained(make_attempt())
    proof = run_verify(checkpoint)
    assert (proof.state, proof.verdict) == ("done", "pass")
    assert checkpoint.state == State.VERIFIED
    listed = {entry["path"]: entry["digest"] for entry in checkpoint.manifest["files"]}
    assert proof.facts["digests"] == listed
    assert proof.facts["bytes"] == checkpoint.size_bytes
    assert "pid" in proof.worker


def test_a_save_of_another_config_is_no_recovery_point_of_its_run():
    checkpoint = trained(make_attempt())
    Config.objects.filter(runs=checkpoint.run_id).update(hash="blake3:" + "0" * 64)
    proof = run_verify(checkpoint)
    assert "config_hash (saved" in failures(proof)["CKPT-5.fits"]
    assert checkpoint.state == State.DAMAGED


def test_a_checkpoint_of_another_layout_is_proved_too():
    checkpoint = from_case(make_attempt(), "good_step_200")
    assert run_verify(checkpoint).verdict in {"pass", "warn"}
    assert checkpoint.state == State.VERIFIED


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("truncated_optimizer", "CKPT-5.size", "optimizer.pt has 3,570 bytes, the manifest says"),
        ("nan_weights", "CKPT-5.finite", "block.0.attn.q.weight"),
        ("optimizer_missing", "CKPT-5.components", "The optimizer is missing"),
        ("optimizer_missing_manifest_agrees", "CKPT-5.components", "The optimizer is missing"),
    ],
)
def test_a_broken_one_is_damaged_and_the_run_goes_on_from_the_one_before(name, code, words):
    attempt = make_attempt()
    before = trained(attempt, step=2)
    run_verify(before)
    broken = from_case(attempt, name)
    proof = run_verify(broken)
    assert broken.state == State.DAMAGED
    assert words in " ".join(failures(proof).values())
    assert code in failures(proof)
    end(attempt)
    assert newest_for_resume(attempt.run) == before
    broken.run.refresh_from_db()
    assert broken.run.checkpoint_step == 2


def test_a_file_that_would_run_code_runs_none_and_is_refused(tmp_path: Path):
    attempt = make_attempt()
    place = path_of(attempt, 200)
    shutil.copytree(CASES / "good_step_200", place)
    shutil.copy(CASES / "pickle" / "optimizer_runs_command.pt", place / "optimizer.pt")
    proof = run_verify(registered(attempt, place))
    assert any("system" in message for message in failures(proof).values())
    assert not list(tmp_path.rglob("UNPICKLED.marker"))


def test_a_link_that_appears_after_registration_is_not_followed(root: Path, tmp_path: Path):
    checkpoint = trained(make_attempt())
    outside = tmp_path / "outside"
    Path(checkpoint.path).rename(outside)
    Path(checkpoint.path).symlink_to(outside)
    proof = run_verify(checkpoint)
    assert checkpoint.state == State.DAMAGED
    assert f"leads to {outside} through a link" in failures(proof)["CKPT-5.elsewhere"]


def test_a_folder_that_was_removed_is_damaged_but_a_missing_volume_is_tried_again(root: Path):
    checkpoint = trained(make_attempt())
    away = root.with_name("unmounted")
    root.rename(away)
    proof = run_verify(checkpoint)
    assert (proof.state, checkpoint.state) == ("requested", State.COMPLETE)
    assert "is the volume mounted?" in proof.error
    away.rename(root)
    shutil.rmtree(checkpoint.path)
    assert "There is nothing at" in failures(run_verify(checkpoint))["CKPT-5.absent"]
    assert checkpoint.state == State.DAMAGED


def test_one_that_was_written_over_by_another_whole_one_is_damaged():
    attempt = make_attempt()
    checkpoint = trained(attempt, step=2)
    other = trained(make_attempt(), step=3)
    shutil.rmtree(checkpoint.path)
    shutil.copytree(other.path, checkpoint.path)
    proof = run_verify(checkpoint)
    assert read(checkpoint.path).step == 3
    assert "step, files differ" in failures(proof)["CKPT-5.registered"]


def test_names_in_files_that_the_database_cannot_hold_hold_up_no_verdict():
    checkpoint = trained(make_attempt())
    file = next(Path(checkpoint.path).glob("*.safetensors"))
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    name = next(name for name in header if name != "__metadata__")
    header["odd \0 \ud800"] = header.pop(name)
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
    proof = run_verify(checkpoint)
    assert (proof.state, checkpoint.state) == ("done", State.DAMAGED)


def test_a_fault_whose_words_the_database_cannot_hold_is_kept(monkeypatch):
    checkpoint = trained(make_attempt())

    def broken(*args: object) -> None:
        raise OSError("cannot read half \ud800 \0")

    monkeypatch.setattr(proving, "prove", broken)
    proof = run_verify(checkpoint)
    assert proof.state == "requested"
    assert proof.error.startswith("cannot read half \ufffd")


def test_it_may_run_twice():
    checkpoint = trained(make_attempt())
    first = run_verify(checkpoint)
    assert run_verify(checkpoint).ended_at == first.ended_at
    told = Event.objects.filter(run=checkpoint.run, message__endswith="was verified.")
    assert told.count() == 1


class Killed(BaseException):
    """The process is gone: nothing after this line runs."""


def test_killed_in_the_middle_it_is_done_once_after_the_lease(monkeypatch, no_broker):
    checkpoint = trained(make_attempt())
    asked = proof_of(checkpoint)
    with monkeypatch.context() as patched:
        patched.setattr(proving, "prove", _kill)
        with pytest.raises(Killed):
            verify(verification_id=asked.pk)
    asked.refresh_from_db()
    assert asked.state == "running"
    verify(verification_id=asked.pk)  # the broker delivers again at once: the lease still holds
    assert proof_of(checkpoint).state == "running"
    with time_machine.travel(timezone.now() + claims.LEASE + dt.timedelta(seconds=1)):
        no_broker.clear()
        claims_woken = sweep.sweep()["woken"]
        assert claims_woken == 1
        proof = run_verify(checkpoint)
    assert (proof.state, proof.num_tries, checkpoint.state) == ("done", 2, State.VERIFIED)


def test_killed_before_the_result_is_kept_it_is_done_again(monkeypatch):
    checkpoint = trained(make_attempt())
    with monkeypatch.context() as patched:
        patched.setattr("checkpoints.services.verification.record", _kill)
        with pytest.raises(Killed):
            verify(verification_id=proof_of(checkpoint).pk)
    with time_machine.travel(timezone.now() + claims.LEASE + dt.timedelta(seconds=1)):
        assert run_verify(checkpoint).num_tries == 2
    assert checkpoint.state == State.VERIFIED


def test_one_that_kills_every_worker_is_given_up_and_stays_complete(monkeypatch, settings):
    checkpoint = trained(make_attempt())
    monkeypatch.setattr(proving, "prove", _kill)
    now = timezone.now()
    for i in range(settings.SAFEHOLD_VERIFY_TRIES):
        later = now + i * (claims.LEASE + dt.timedelta(seconds=1))
        with time_machine.travel(later), pytest.raises(Killed):
            verify(verification_id=proof_of(checkpoint).pk)
    with time_machine.travel(now + dt.timedelta(hours=1)):
        proof = run_verify(checkpoint)
    assert (proof.state, checkpoint.state) == ("failed", State.COMPLETE)
    assert "Given up after 3 tries" in proof.error
    with time_machine.travel(now + dt.timedelta(hours=2)):
        assert sweep.sweep()["requested"] == 0


def test_a_fault_of_ours_is_kept_and_raised(monkeypatch):
    checkpoint = trained(make_attempt())

    def stumble(*args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(proving, "prove", stumble)
    with pytest.raises(ZeroDivisionError):
        verify(verification_id=proof_of(checkpoint).pk)
    assert proof_of(checkpoint).error == "ZeroDivisionError: a bug"
    assert proof_of(checkpoint).state == "requested"


def test_progress_is_kept_at_most_once_a_second(monkeypatch):
    checkpoint = trained(make_attempt())
    written = []
    monkeypatch.setattr(
        claims, "note_progress", lambda **kept: written.append(kept["done_bytes"]) or True
    )
    clock = iter([0.0, 0.5, 1.2, 1.9, 2.3])
    monkeypatch.setattr("workers.tasks.verify.time.monotonic", lambda: next(clock))

    def prove(checkpoint: Checkpoint, progress) -> proving.Proof:
        for done in (10, 20, 30, 40):
            progress(done, 40)
        return proving.Proof((), {})

    monkeypatch.setattr(proving, "prove", prove)
    verify(verification_id=proof_of(checkpoint).pk)
    assert written == [20, 40]


def test_a_worker_that_lost_its_lease_stops_and_records_nothing(monkeypatch):
    checkpoint = trained(make_attempt())
    monkeypatch.setattr(claims, "note_progress", lambda **kept: False)
    monkeypatch.setattr("workers.tasks.verify._SECONDS_BETWEEN_PROGRESS", -1.0)
    assert run_verify(checkpoint).state == "running"


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_do_it_once(monkeypatch):
    checkpoint = trained(make_attempt())
    asked = proof_of(checkpoint)
    started = threading.Barrier(2)
    proofs = []
    really = proving.prove
    monkeypatch.setattr(proving, "prove", lambda *args: proofs.append(1) or really(*args))

    def work() -> None:
        started.wait()
        verify(verification_id=asked.pk)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(proofs) == 1
    assert proof_of(checkpoint).state == "done"


def test_the_sweep_finds_what_nobody_asked_for(no_broker):
    attempt = make_attempt()
    checkpoint = trained(attempt)
    checkpoint.verifications.all().delete()
    writing = make_checkpoint(attempt=attempt, state="writing", step=90)
    end(attempt)
    verify_left_behind()
    writing.refresh_from_db()
    assert proof_of(checkpoint).state == "requested"
    assert (writing.state, "ended before the save" in writing.error) == (State.FAILED, True)
    assert set(sweep.sweep().values()) == {0}


def _kill(*args: object, **named: object) -> None:
    raise Killed
