"""Passes over runs that are silent, out of sight, or that cannot be launched."""

import pytest

from runs import states
from runs.models import StateChange
from runs.services import runs
from tests.workers.reporting import beat, launched, make_ended, newest
from tests.workers.scripted import Scripted
from workers.launchers.base import LauncherError, Presence
from workers.passes import reconcile_run
from workers.tasks.reconcile import sweep


@pytest.mark.django_db
class TestInTheDark:
    def test_silent_run_is_contact_lost_then_lost_at_its_last_sign_of_life(
        self, scripted: Scripted, moved_clock
    ):
        """RUN-01: a node loses power and nobody says goodbye."""
        run, _ = launched()
        reconcile_run(run.pk)
        moved_clock(12)
        beat(newest(run))
        last_sign = newest(run).last_seen_at
        moved_clock(60)
        reconcile_run(run.pk)
        shown = states.shown(states.Desired.RUNNING, newest(run).facts())
        assert (shown.word, shown.since) == ("contact_lost", last_sign)

        del scripted.seen[newest(run).name]
        moved_clock(500_000)
        reconcile_run(run.pk)

        attempt = newest(run)
        assert (attempt.outcome, attempt.ended_at) == ("lost", last_sign)
        assert not states.shown(states.Desired.RUNNING, attempt.facts()).is_active

    def test_launcher_out_of_sight_leaves_the_run_alone(self, scripted: Scripted, moved_clock):
        """REC-01: looks that fail are not evidence."""
        run, _ = launched()
        reconcile_run(run.pk)
        beat(newest(run))
        reconcile_run(run.pk)
        num_changes = StateChange.objects.count()
        for look in range(300):
            scripted.is_reachable = look % 11 not in {3, 4, 5, 6}
            moved_clock(30)
            beat(newest(run))
            reconcile_run(run.pk)

        assert newest(run).state == "running"
        assert StateChange.objects.count() == num_changes
        assert scripted.calls == [("start", newest(run).name)]

    def test_launch_that_cannot_work_is_told_and_final(self, scripted: Scripted):
        run, _ = launched()
        scripted.start_error = LauncherError("No such image.", can_retry=False, hint="Push it.")

        reconcile_run(run.pk)
        reconcile_run(run.pk)

        attempt = newest(run)
        assert (attempt.outcome, attempt.reason) == ("could_not_start", "No such image. Push it.")
        assert ("fence", attempt.name) in scripted.calls

    def test_launch_that_may_work_later_is_tried_later(self, scripted: Scripted, moved_clock):
        run, _ = launched()
        scripted.start_error = LauncherError("The disk is full.", can_retry=True)
        for _ in range(3):
            reconcile_run(run.pk)
        assert len(scripted.calls) == 1
        assert newest(run).state == "submitting"

        scripted.start_error = None
        moved_clock(3)
        reconcile_run(run.pk)

        assert newest(run).state == "starting"

    def test_workload_of_an_ended_attempt_never_meets_the_next(self, scripted: Scripted):
        run, user = launched()
        old = make_ended(run, scripted)
        runs.request_resume(run=run, user=user)
        scripted.set(old.name, Presence.RUNNING)

        sweep()

        assert ("kill", old.name) in scripted.calls
        assert run.events.filter(kind="orphan_ended", attempt=old).count() == 1
