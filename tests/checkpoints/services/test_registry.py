from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from checkpoints.models import Checkpoint, Verification
from checkpoints.services import registry
from checkpoints.services.registry import AttemptIsOver
from checkpoints.states import State
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import AuditEntry, Role
from runs.models import Event
from tests.checkpoints.makers import (
    end,
    make_checkpoint,
    make_manifest,
    path_of,
    save,
    verify,
)
from tests.factories import make_attempt, make_user

pytestmark = pytest.mark.django_db


def test_a_complete_save_is_kept_with_the_facts_of_its_manifest():
    attempt = make_attempt()
    checkpoint = save(attempt, 100)
    assert checkpoint.state == State.COMPLETE
    assert (checkpoint.step, checkpoint.tokens, checkpoint.kind) == (100, 102400, "anchor")
    assert checkpoint.size_bytes == 5000
    assert checkpoint.data_version == "blake3:" + "d" * 64
    assert checkpoint.saved_at is not None
    event = Event.objects.get(run=attempt.run, kind="checkpoint")
    assert event.message == "Checkpoint of step 100 was saved."


def test_a_complete_save_asks_for_its_proof():
    checkpoint = save(make_attempt(), 100)
    asked = Verification.objects.get(checkpoint=checkpoint)
    assert (asked.state, asked.requested_by) == ("requested", None)


def test_the_worker_is_woken_only_when_the_save_is_kept(
    django_capture_on_commit_callbacks, monkeypatch: pytest.MonkeyPatch
):
    sent = []
    monkeypatch.setattr(
        "controlplane.common.queue.current_app.send_task",
        lambda name, kwargs, **rest: sent.append((name, kwargs)),
    )
    with django_capture_on_commit_callbacks(execute=True):
        checkpoint = save(make_attempt(), 100)
        assert not sent
    asked = Verification.objects.get(checkpoint=checkpoint)
    assert ("workers.verify", {"verification_id": asked.pk}) in sent


def test_the_same_registration_again_changes_nothing():
    attempt = make_attempt()
    manifest = make_manifest(100)
    path = str(path_of(attempt, 100))
    call = {"attempt": attempt, "path": path, "manifest": manifest, "state": "complete"}
    first, second = registry.register(**call), registry.register(**call)
    assert first.pk == second.pk
    assert Event.objects.filter(run=attempt.run).count() == 1
    assert Verification.objects.count() == 1


def test_writing_becomes_complete_and_never_goes_back():
    attempt = make_attempt()
    writing = save(attempt, 100, "writing")
    assert writing.state == State.WRITING
    assert not Verification.objects.exists()
    assert not Event.objects.filter(kind="checkpoint").exists()
    complete = save(attempt, 100)
    assert (complete.pk, complete.state) == (writing.pk, State.COMPLETE)
    assert complete.size_bytes == 5000
    assert save(attempt, 100, "writing").state == State.COMPLETE
    assert save(attempt, 100, "failed", error="late").state == State.COMPLETE


def test_a_failed_save_tells_path_and_error_and_may_succeed_later():
    attempt = make_attempt()
    failed = save(attempt, 100, "failed", error="[Errno 13] Permission denied")
    assert (failed.state, failed.error) == (State.FAILED, "[Errno 13] Permission denied")
    message = Event.objects.get(run=attempt.run, kind="checkpoint").message
    assert message.startswith(f"Saving step 100 to {path_of(attempt, 100)} failed: [Errno 13]")
    again = save(attempt, 100)
    assert (again.pk, again.state, again.error) == (failed.pk, State.COMPLETE, "")


def test_other_content_under_a_registered_path_is_refused():
    attempt = make_attempt()
    save(attempt, 100)
    with pytest.raises(Conflict, match="registered with another manifest"):
        save(attempt, 100)


def test_an_attempt_that_ended_registers_nothing_more():
    attempt = make_attempt()
    end(attempt)
    with pytest.raises(AttemptIsOver, match="is over; it can register nothing more"):
        save(attempt, 100)
    assert not Checkpoint.objects.exists()


def test_an_attempt_whose_token_was_revoked_registers_nothing_more():
    attempt = make_attempt(token_revoked_at=timezone.now())
    with pytest.raises(AttemptIsOver):
        save(attempt, 100)


def test_a_path_of_another_attempt_is_refused():
    attempt = make_attempt()
    other = make_attempt()
    with pytest.raises(Invalid, match="saves only below"):
        save(attempt, 100, path=str(path_of(other, 100)))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"step": -1}, "step"),
        ({"step": 2**63}, "step"),
        ({"step": True}, "step"),
        ({"kind": "backup"}, "kind"),
        ({"files": [{"path": "../x", "size": 1, "digest": "0" * 64}]}, "climbs"),
        ({"files": [{"path": "/etc/passwd", "size": 1, "digest": "0" * 64}]}, "absolute"),
        ({"config_hash": "x" * 81}, "config_hash"),
        ({"code": {"note": "nul \0"}}, "NUL"),
        ({"code": {"note": "\ud800"}}, "cannot be stored"),
        ({"code": {"note": float("nan")}}, "cannot be stored"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused_by_field(changes: dict, match: str):
    attempt = make_attempt()
    path = str(path_of(attempt, 1))
    manifest = make_manifest(1) | changes
    with pytest.raises(Invalid, match=match):
        registry.register(attempt=attempt, path=path, manifest=manifest, state="complete")
    assert not Checkpoint.objects.exists()


@pytest.mark.parametrize("state", ["verified", "stable", "", None, 7])
def test_a_writer_may_not_tell_what_only_a_verification_knows(state: object):
    attempt = make_attempt()
    with pytest.raises(Invalid, match="must be one of writing, complete, failed"):
        registry.register(attempt=attempt, path="/x", manifest=make_manifest(), state=state)


def test_the_first_save_descends_from_where_the_attempt_began_and_the_next_from_the_save_before():
    origin = make_checkpoint(step=50)
    end(origin.attempt)
    attempt = make_attempt(run=origin.run)
    from checkpoints.services import lineage

    lineage.record_start(attempt=attempt, checkpoint=origin)
    first, second = save(attempt, 60), save(attempt, 70)
    assert (first.parent_id, second.parent_id) == (origin.pk, first.pk)


def test_a_save_that_failed_is_nobodys_parent():
    attempt = make_attempt()
    first = save(attempt, 10)
    save(attempt, 20, "failed", error="no space")
    assert save(attempt, 30).parent_id == first.pk


def test_the_run_repeats_its_newest_recovery_point():
    attempt = make_attempt()
    save(attempt, 200)
    attempt.run.refresh_from_db()
    assert (attempt.run.checkpoint_step, attempt.run.checkpoint_state) == (None, "")
    verify(save(attempt, 100))
    newest = verify(save(attempt, 300))
    attempt.run.refresh_from_db()
    assert (attempt.run.checkpoint_step, attempt.run.checkpoint_state) == (300, "verified")
    verify(newest, is_whole=False)
    attempt.run.refresh_from_db()
    assert attempt.run.checkpoint_step == 100


def test_open_pages_hear_of_it_once_it_is_kept(
    django_capture_on_commit_callbacks, monkeypatch: pytest.MonkeyPatch
):
    told = []
    monkeypatch.setattr("runs.live.publish", lambda *args: told.append(args))
    with django_capture_on_commit_callbacks(execute=True):
        checkpoint = save(make_attempt(), 100, "writing")
    payload = {"id": checkpoint.pk, "step": 100, "state": "writing"}
    assert (checkpoint.run_id, "checkpoint", payload) in told


def test_a_pin_is_kept_and_audited_once():
    checkpoint = make_checkpoint()
    user = make_user(Role.OPERATOR, checkpoint.run.project)
    for _ in range(2):
        registry.pin(checkpoint=checkpoint, user=user, is_pinned=True)
    registry.pin(checkpoint=checkpoint, user=user, is_pinned=False)
    acts = AuditEntry.objects.filter(object_id=str(checkpoint.pk)).order_by("pk")
    assert [act.action for act in acts] == ["checkpoint.pin", "checkpoint.unpin"]
    checkpoint.refresh_from_db()
    assert not checkpoint.is_pinned


def test_the_database_refuses_the_same_save_twice():
    checkpoint = save(make_attempt(), 100)
    names = connection.introspection.get_constraints(connection.cursor(), checkpoint._meta.db_table)
    assert names["one_checkpoint_per_save"]["unique"]


def test_paths_are_kept_as_they_resolve(settings, tmp_path: Path):
    (tmp_path / "volume").mkdir()
    (tmp_path / "root").symlink_to("volume")
    settings.SAFEHOLD_CHECKPOINT_ROOT = tmp_path / "root"
    attempt = make_attempt()
    checkpoint = save(attempt, 5)
    assert checkpoint.path.startswith(str(tmp_path / "volume"))
