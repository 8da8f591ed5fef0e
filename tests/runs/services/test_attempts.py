"""The life of an attempt: guarded moves, one end, a token that can be made again."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.common import tokens
from runs import states
from runs.models import Attempt, StateChange
from runs.services import attempts, commands, contact
from tests.factories import make_attempt, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return attempts.create_attempt(run=make_run())


def changes(attempt: Attempt) -> list[tuple[str, str]]:
    return list(StateChange.objects.filter(attempt=attempt).values_list("old", "new"))


def test_moves_are_kept_and_their_times_noted(attempt: Attempt) -> None:
    for to in ("submitting", "waiting", "starting", "running", "paused", "running"):
        attempts.move_attempt(attempt=attempt, to=to, reason=f"Now {to}.")
    attempt.refresh_from_db()
    assert changes(attempt)[:2] == [("", "requested"), ("requested", "submitting")]
    assert (attempt.state, attempt.reason, attempt.paused_at) == ("running", "Now running.", None)
    assert attempt.submitted_at <= attempt.started_at <= attempt.state_at


def test_a_move_that_the_table_does_not_have_is_refused(attempt: Attempt) -> None:
    with pytest.raises(attempts.ForbiddenMove, match="cannot go from requested to running"):
        attempts.move_attempt(attempt=attempt, to="running")
    with pytest.raises(attempts.ForbiddenMove, match="end_attempt"):
        attempts.move_attempt(attempt=attempt, to="ended")


def test_the_second_worker_loses(attempt: Attempt) -> None:
    other = Attempt.objects.get(pk=attempt.pk)
    attempts.move_attempt(attempt=attempt, to="submitting")
    with pytest.raises(attempts.StaleState, match="no longer requested"):
        attempts.move_attempt(attempt=other, to="submitting")
    assert len(changes(attempt)) == 2


def test_a_run_has_one_open_attempt(attempt: Attempt) -> None:
    with pytest.raises(IntegrityError, match="one_open_attempt_per_run"), transaction.atomic():
        attempts.create_attempt(run=attempt.run)
    attempts.end_attempt(attempt=attempt, outcome="stopped", reason="Stopped.")
    assert attempts.create_attempt(run=attempt.run).number == 2


def test_an_end_is_recorded_once(attempt: Attempt) -> None:
    commands.send(attempt=attempt, kind="save")
    record = {"outcome": "failed", "ended_at": timezone.now().isoformat()}
    given = {"outcome": "failed", "reason": "Signal 9.", "exit": record}
    assert attempts.end_attempt(attempt=attempt, **given)
    other = {"outcome": "finished", "reason": "Done."}
    assert not attempts.end_attempt(attempt=attempt, **other)
    attempt.refresh_from_db()
    assert (attempt.state, attempt.outcome, attempt.exit) == ("ended", "failed", record)
    assert commands.pending(attempt) == []
    assert changes(attempt)[-1] == ("requested", "ended")


def test_an_attempt_ends_at_its_last_sign_of_life() -> None:
    """RUN-01: found dead days later, it lasted twelve seconds."""
    begun = timezone.now() - timedelta(days=6)
    seen = begun + timedelta(seconds=12)
    attempt = make_attempt(state="running", requested_at=begun, last_seen_at=seen)
    contact.contact_lost(attempt=attempt)
    assert attempt.contact_lost_since == seen
    facts = attempt.facts()
    assert states.shown(states.Desired.RUNNING, facts).word == "contact_lost"
    attempts.end_attempt(attempt=attempt, outcome="lost", reason="Its pod is gone.")
    shown = states.shown(states.Desired.RUNNING, attempt.facts())
    assert (shown.word, shown.since, shown.is_active) == ("lost", seen, False)


@pytest.mark.parametrize(
    "ended_at", ["2999-01-01T00:00:00Z", "no time", "2020-01-01T00:00:00", 7, None]
)
def test_an_end_that_cannot_be_is_taken_from_our_own_facts(ended_at: object) -> None:
    now = timezone.now()
    attempt = make_attempt(state="running", last_seen_at=now)
    attempts.end_attempt(attempt=attempt, outcome="failed", reason="x", exit={"ended_at": ended_at})
    assert now <= attempt.ended_at <= timezone.now()


def test_a_clock_before_the_request_does_not_make_a_negative_duration() -> None:
    attempt = make_attempt(state="running")
    old = datetime(2020, 1, 1, tzinfo=UTC)
    attempts.end_attempt(attempt=attempt, outcome="failed", reason="x", at=old)
    assert attempt.ended_at == attempt.requested_at


def test_a_token_is_the_same_on_every_call_and_only_its_hash_is_kept(attempt: Attempt) -> None:
    token = attempts.token_of(attempt)
    again = attempts.token_of(Attempt.objects.get(pk=attempt.pk))
    assert token == again
    assert token.startswith(tokens.ATTEMPT_PREFIX)
    stored = Attempt.objects.filter(pk=attempt.pk).values().get()
    assert stored["token_hash"] == tokens.hash_token(token)
    assert token not in str(stored)


def test_a_new_token_replaces_the_old_one(attempt: Attempt) -> None:
    old = attempts.token_of(attempt)
    new = attempts.issue_token(attempt=attempt)
    assert new != old
    assert attempts.token_of(attempt) == new


def test_after_a_change_of_the_secret_key_the_token_is_issued_anew(
    attempt: Attempt, settings
) -> None:
    old = attempts.token_of(attempt)
    settings.SECRET_KEY = "another key"
    new = attempts.token_of(attempt)
    assert new != old
    assert attempts.token_of(attempt) == new


def test_contact_is_lost_and_regained_once(attempt: Attempt) -> None:
    assert contact.contact_lost(attempt=attempt)
    assert not contact.contact_lost(attempt=attempt)
    assert contact.contact_regained(attempt=attempt)
    assert not contact.contact_regained(attempt=attempt)
    kinds = attempt.events.exclude(kind="attempt_requested").order_by("pk")
    assert list(kinds.values_list("kind", flat=True)) == ["contact_lost", "contact_regained"]
