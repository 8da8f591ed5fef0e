"""Going down saves and stops local training; coming up resumes what was running."""

from pathlib import Path

import pytest

from controlplane.common.models import User
from controlplane.service import accounts, training
from runs import states
from runs.models import Attempt, Run
from runs.services import attempts
from tests.factories import make_attempt, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(tmp_path: Path) -> User:
    accounts.seed(tmp_path)
    return accounts.admin()


def make_live_run(desired: states.Desired = states.Desired.RUNNING, **changes: object) -> Run:
    run = make_run(desired=desired, needs_reconcile=True, **changes)
    make_attempt(run=run, state=states.State.RUNNING)
    return run


def end(run: Run) -> None:
    attempt = Attempt.objects.get(run=run)
    attempts.end_attempt(
        attempt=attempt, outcome=states.Outcome.STOPPED, reason="saved and stopped"
    )


def test_a_running_run_is_stopped_and_marked_to_be_resumed(admin: User):
    run = make_live_run()
    assert training.save_and_stop(user=admin) == [run.pk]
    run.refresh_from_db()
    assert (run.desired, run.resume_on_up) == (states.Desired.STOPPED, True)


def test_a_paused_run_is_stopped_and_stays_so(admin: User):
    run = make_live_run(states.Desired.PAUSED)
    training.save_and_stop(user=admin)
    run.refresh_from_db()
    assert (run.desired, run.resume_on_up) == (states.Desired.STOPPED, False)


def test_runs_elsewhere_are_left_alone(admin: User):
    make_live_run(launcher="kubernetes")
    assert training.save_and_stop(user=admin) == []


def test_waiting_ends_when_the_attempts_have_ended(admin: User):
    run = make_live_run()
    asked = training.save_and_stop(user=admin)
    assert training.wait_until_stopped(asked, 10, meanwhile=lambda: end(run)) == []


def test_waiting_is_bounded_and_names_what_still_runs(admin: User):
    run = make_live_run()
    asked = training.save_and_stop(user=admin)
    assert training.wait_until_stopped(asked, 0, meanwhile=lambda: None) == [run.pk]


def test_the_next_up_resumes_what_it_stopped_and_only_that(admin: User):
    run, by_hand = make_live_run(), make_live_run()
    training.save_and_stop(user=admin)
    end(run)
    end(by_hand)
    Run.objects.filter(pk=by_hand.pk).update(resume_on_up=False)
    assert training.resume(user=admin) == [run.pk]
    run.refresh_from_db()
    assert (run.desired, run.resume_on_up) == (states.Desired.RUNNING, False)
    assert training.resume(user=admin) == []


def test_a_run_that_cannot_be_resumed_does_not_stop_the_start(admin: User):
    run = make_live_run()
    training.save_and_stop(user=admin)
    end(run)
    run.attempts.update(outcome=states.Outcome.FINISHED)
    assert training.resume(user=admin) == []
    run.refresh_from_db()
    assert run.resume_on_up


def test_a_stop_that_is_still_under_way_is_followed_by_a_resume(admin: User):
    run = make_live_run()
    training.save_and_stop(user=admin)
    assert training.resume(user=admin) == [run.pk]


def test_the_person_at_the_terminal_is_told(admin: User):
    run = make_live_run()
    told: list[str] = []
    training.pause_all(meanwhile=lambda: end(run), say=told.append)
    assert f"saving and stopping run {run.pk}" in told[0]
    assert told[-1] == "  saved."
