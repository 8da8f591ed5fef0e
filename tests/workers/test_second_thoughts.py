"""A person who asks for one thing, and then for another before the first was done."""

import pytest

from controlplane.common.errors import Conflict
from controlplane.common.models import User
from runs.models import Run
from runs.services import resume_points, run_shelf, runs
from tests.workers.reporting import beat, launched, newest
from tests.workers.scripted import Scripted
from workers.passes import reconcile_run
from workers.tasks.reconcile import sweep

pytestmark = pytest.mark.django_db


def stops(run: Run, user, **how: bool) -> None:
    """Bring a run that trains to where it is being stopped."""
    reconcile_run(run.pk)
    beat(newest(run))
    runs.request_stop(run=run, user=user, **how)
    reconcile_run(run.pk)
    assert newest(run).state == "stopping"


@pytest.fixture
def waiting(scripted: Scripted, monkeypatch, moved_clock) -> tuple[Run, User]:
    """A run whose attempt has ended, and whose resume waits for a checkpoint to be proved."""
    run, user = launched()
    stops(run, user)
    moved_clock(1)
    runs.request_resume(run=run, user=user)
    scripted.exit(newest(run).name, "stopped")

    def unproved(run: Run) -> dict[str, object]:
        raise Conflict("None of its checkpoints is proved yet.")

    with monkeypatch.context() as patched:
        patched.setattr(resume_points, "newest", unproved)
        sweep()
    assert newest(run).is_over
    moved_clock(60)
    return run, user


def test_a_resume_that_waits_is_answered_in_the_end(waiting: tuple[Run, User]):
    run, _ = waiting
    sweep()
    assert newest(run).number == 2


def test_what_was_archived_meanwhile_goes_on_no_more(waiting: tuple[Run, User]):
    run, user = waiting
    run_shelf.archive_run(run=run, user=user)
    sweep()
    sweep()
    assert newest(run).number == 1
    assert run.events.filter(kind="launch_refused").count() == 1
    run.refresh_from_db()
    assert (run.desired, run.needs_reconcile) == ("stopped", False)


def test_a_stop_takes_back_a_resume_that_waits_for_its_turn(waiting: tuple[Run, User]):
    run, user = waiting
    runs.request_stop(run=run, user=user)

    sweep()

    assert (newest(run).number, newest(run).outcome) == (1, "stopped")
    run.refresh_from_db()
    assert (run.desired, run.needs_reconcile) == ("stopped", False)


def test_a_stop_of_what_has_ended_changes_nothing(scripted: Scripted):
    run, user = launched()
    reconcile_run(run.pk)
    scripted.exit(newest(run).name, "finished")
    sweep()

    runs.request_stop(run=run, user=user)

    run.refresh_from_db()
    assert (run.desired, run.needs_reconcile) == ("running", False)


def test_a_force_is_meant_for_the_attempt_that_it_ended(
    scripted: Scripted, monkeypatch, moved_clock
):
    run, user = launched()
    monkeypatch.setattr(scripted, "kill", lambda name, handle: None)
    stops(run, user, force=True)
    moved_clock(1)
    runs.request_resume(run=run, user=user)
    scripted.exit(newest(run).name, "failed")

    sweep()

    assert newest(run).number == 2
    run.refresh_from_db()
    assert not run.is_forced
