import datetime as dt

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from checkpoints.models import Verification
from checkpoints.services import claims, verification
from checkpoints.states import State
from controlplane.common.errors import Conflict
from controlplane.common.models import AuditEntry, Role
from runs.models import Event
from safehold.findings import fail, passed
from tests.checkpoints.makers import make_checkpoint, save, verify
from tests.factories import make_attempt, make_user

pytestmark = pytest.mark.django_db
WHOLE = [passed("Every digest agrees.", code="CKPT-5.digest")]
BROKEN = [fail("1 NaN in block.0.attn.q.weight.", code="CKPT-5.finite")]


def claim(asked: Verification, worker: str = "w1") -> Verification | None:
    return claims.claim(verification_id=asked.pk, worker=worker)


def messages(checkpoint) -> list[str]:
    events = Event.objects.filter(run=checkpoint.run, kind="checkpoint").order_by("pk")
    return [event.message for event in events]


def test_two_requests_are_one_open_verification():
    checkpoint = save(make_attempt(), 100)
    first = verification.request(checkpoint=checkpoint)
    second = verification.request(checkpoint=checkpoint, user=make_user(is_superuser=True))
    assert first.pk == second.pk
    with pytest.raises(IntegrityError), transaction.atomic():
        Verification.objects.create(checkpoint=checkpoint, requested_at=timezone.now())


@pytest.mark.parametrize("state", ["writing", "failed"])
def test_what_was_not_saved_cannot_be_verified(state: str):
    checkpoint = make_checkpoint(state=state)
    with pytest.raises(Conflict, match=f"is {state}: there is nothing to verify"):
        verification.request(checkpoint=checkpoint)


def test_a_pass_makes_a_recovery_point():
    checkpoint = verify(save(make_attempt(), 100))
    assert checkpoint.state == State.VERIFIED
    assert checkpoint.verified_at is not None
    assert messages(checkpoint)[-1] == "Checkpoint of step 100 was verified."
    proof = checkpoint.verifications.get()
    assert (proof.state, proof.verdict, proof.worker) == ("done", "pass", "test")
    assert proof.findings[0]["code"] == "CKPT-5.digest"


def test_values_that_are_not_finite_make_it_damaged_and_no_recovery_point():
    checkpoint = save(make_attempt(), 100)
    claimed = claim(verification.request(checkpoint=checkpoint))
    verification.record(verification=claimed, verdict="fail", findings=BROKEN, facts={})
    checkpoint.refresh_from_db()
    assert checkpoint.state == State.DAMAGED
    assert not checkpoint.is_usable
    assert checkpoint.run.checkpoint_step is None
    assert messages(checkpoint)[-1].endswith("is damaged: 1 NaN in block.0.attn.q.weight.")


def test_a_recovery_point_that_rots_is_damaged_and_one_that_proves_whole_again_is_not():
    checkpoint = verify(verify(save(make_attempt(), 100)), is_whole=False)
    assert checkpoint.state == State.DAMAGED
    assert verify(checkpoint).state == State.VERIFIED


def test_verifying_again_keeps_stable():
    assert verify(make_checkpoint(state="stable")).state == State.STABLE


def test_who_asked_is_kept_and_audited():
    checkpoint = make_checkpoint()
    user = make_user(Role.OPERATOR, checkpoint.run.project)
    asked = verification.request(checkpoint=checkpoint, user=user)
    assert asked.requested_by == user
    assert AuditEntry.objects.filter(action="checkpoint.verify", actor=user).count() == 1


def test_only_one_worker_gets_it():
    asked = verification.request(checkpoint=save(make_attempt(), 100))
    assert claim(asked, "w1") is not None
    assert claim(asked, "w2") is None


def test_a_finished_one_is_not_claimed_again():
    checkpoint = verify(save(make_attempt(), 100))
    assert claim(checkpoint.verifications.get()) is None


def test_after_its_lease_another_worker_takes_it_and_the_first_can_tell_nothing_more():
    checkpoint = save(make_attempt(), 100)
    asked = verification.request(checkpoint=checkpoint)
    slow = claim(asked, "slow")
    with time_machine.travel(timezone.now() + claims.LEASE + dt.timedelta(seconds=1)):
        quick = claim(asked, "quick")
        assert quick is not None
        assert not claims.note_progress(verification=slow, done_bytes=1)
        told = {"verdict": "fail", "findings": BROKEN, "facts": {}}
        assert not verification.record(verification=slow, **told)
        claims.release(verification=slow, error="late")
        assert verification.record(verification=quick, verdict="pass", findings=WHOLE, facts={})
    checkpoint.refresh_from_db()
    assert checkpoint.state == State.VERIFIED
    assert messages(checkpoint).count("Checkpoint of step 100 was verified.") == 1


def test_progress_renews_the_lease():
    asked = verification.request(checkpoint=save(make_attempt(), 100))
    claimed = claim(asked)
    with time_machine.travel(timezone.now() + claims.LEASE * 0.9):
        assert claims.note_progress(verification=claimed, done_bytes=4096)
    with time_machine.travel(timezone.now() + claims.LEASE * 1.5):
        assert claim(asked, "w2") is None
    asked.refresh_from_db()
    assert asked.progress_bytes == 4096


def test_a_result_is_recorded_once():
    checkpoint = save(make_attempt(), 100)
    claimed = claim(verification.request(checkpoint=checkpoint))
    told = {"verification": claimed, "verdict": "pass", "findings": WHOLE, "facts": {}}
    assert verification.record(**told)
    assert not verification.record(**told)


def test_a_disk_that_cannot_be_read_says_nothing_about_the_checkpoint(settings):
    checkpoint = save(make_attempt(), 100)
    asked = verification.request(checkpoint=checkpoint)
    for _ in range(settings.SAFEHOLD_VERIFY_TRIES):
        claimed = claim(asked)
        claims.release(verification=claimed, error="[Errno 5] Input/output error")
    assert claim(asked) is None
    asked.refresh_from_db()
    checkpoint.refresh_from_db()
    assert (asked.state, checkpoint.state) == ("failed", State.COMPLETE)
    assert asked.error == "Given up after 3 tries: [Errno 5] Input/output error"
    assert "could not be verified. Given up after 3 tries" in messages(checkpoint)[-1]


def test_one_that_kills_its_workers_is_given_up():
    asked = verification.request(checkpoint=save(make_attempt(), 100))
    now = timezone.now()
    for i in range(4):
        with time_machine.travel(now + (i + 1) * (claims.LEASE + dt.timedelta(seconds=1))):
            claimed = claim(asked, f"w{i}")
            assert (claimed is None) == (i == 3)
    asked.refresh_from_db()
    assert asked.error == "Given up after 3 tries: w2 vanished while verifying."
    assert claims.left_behind() == []


def test_what_no_worker_holds_is_found():
    waiting = verification.request(checkpoint=save(make_attempt(), 100))
    held = verification.request(checkpoint=save(make_attempt(), 100))
    claim(held)
    assert claims.left_behind() == []
    with time_machine.travel(timezone.now() + claims.LEASE * 0.5):
        assert claims.left_behind() == [waiting.pk]
    with time_machine.travel(timezone.now() + claims.LEASE * 2):
        assert claims.left_behind() == [waiting.pk, held.pk]


def test_one_that_waits_for_a_busy_worker_is_called_ever_less_often(monkeypatch):
    """A worker may read one checkpoint for hours; calls for the others must not pile up meanwhile."""
    calls = []
    monkeypatch.setattr(claims, "wake", lambda name, **ids: calls.append(ids))
    asked = verification.request(checkpoint=save(make_attempt(), 100))
    with time_machine.travel(asked.requested_at, tick=False) as clock:
        for _ in range(4 * 60 * 4):  # four hours of sweeps
            clock.shift(15)
            claims.wake_left_behind()
    assert calls[0] == {"verification_id": asked.pk}
    assert 5 <= len(calls) <= 12
    assert claim(asked) is not None


def test_a_released_one_is_called_at_once(monkeypatch):
    calls = []
    monkeypatch.setattr(claims, "wake", lambda name, **ids: calls.append(ids))
    asked = verification.request(checkpoint=save(make_attempt(), 100))
    with time_machine.travel(asked.requested_at, tick=False) as clock:
        clock.shift(3600)
        claims.wake_left_behind()
        claims.release(verification=claim(asked), error="The volume does not answer.")
        clock.shift(1)
        claims.wake_left_behind()
    assert len(calls) == 2
