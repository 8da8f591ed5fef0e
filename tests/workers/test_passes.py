"""Passes over one run on a real database: what they do once, however often they come."""

import pytest

from runs import states
from runs.models import Command, StateChange
from runs.services import commands, runs
from safehold.config import config_hash
from tests.workers.reporting import beat, launched, newest, obey
from tests.workers.scripted import Scripted
from workers.passes import reconcile_run


@pytest.mark.django_db
class TestOneRun:
    def test_launch_becomes_one_workload(self, scripted: Scripted):
        run, _ = launched()

        reconcile_run(run.pk)

        attempt = newest(run)
        assert (attempt.state, attempt.where) == ("starting", "nowhere")
        assert attempt.handle == {"id": attempt.name}
        assert scripted.starts == {attempt.name: 1}

    def test_third_delivery_changes_nothing(self, scripted: Scripted):
        run, _ = launched()
        for _ in range(3):
            reconcile_run(run.pk)

        assert scripted.calls == [("start", newest(run).name)]
        assert StateChange.objects.filter(attempt__run=run, new="starting").count() == 1

    def test_run_that_was_rolled_back_or_is_gone_is_no_error(self, scripted: Scripted):
        reconcile_run(2**40)

        assert scripted.calls == []

    def test_spec_is_that_of_the_config(self, scripted: Scripted, settings):
        run, _ = launched()
        document = run.config.document | {
            "code": {"command": ["train.py", "--fast"]},
            "compute": {"devices": 4, "nodes": 1},
            "checkpoint": {"root": "/ckpt"},
        }
        type(run.config).objects.filter(pk=run.config_id).update(
            document=document, hash=config_hash(document)
        )

        reconcile_run(run.pk)

        (spec,) = scripted.specs
        assert (spec.command, spec.devices) == (("train.py", "--fast"), 4)
        assert str(spec.checkpoint_root) == "/ckpt"
        assert spec.token.startswith("sha_")
        assert spec.token not in repr(spec)

    def test_stop_saves_first_and_settles(self, scripted: Scripted):
        run, user = launched()
        reconcile_run(run.pk)
        beat(newest(run))
        runs.request_stop(run=run, user=user)

        reconcile_run(run.pk)

        attempt = newest(run)
        assert attempt.state == "stopping"
        assert [c.kind for c in commands.pending(attempt)] == ["save_and_stop"]
        scripted.exit(attempt.name, "stopped", message="All ranks saved and stopped.")
        reconcile_run(run.pk)
        run.refresh_from_db()
        assert (newest(run).outcome, newest(run).reason) == (
            "stopped",
            "All ranks saved and stopped.",
        )
        assert not run.needs_reconcile

    def test_deaf_trainer_is_signalled_and_killed_in_time(self, scripted: Scripted, moved_clock):
        run, user = launched()
        reconcile_run(run.pk)
        beat(newest(run))
        runs.request_stop(run=run, user=user)
        reconcile_run(run.pk)
        name = newest(run).name
        assert scripted.calls == [("start", name)]

        moved_clock(61)
        reconcile_run(run.pk)
        assert scripted.calls[1:] == [("stop", name)]
        moved_clock(15)
        reconcile_run(run.pk)

        assert ("kill", name) in scripted.calls
        assert newest(run).outcome == "stopped"

    def test_stop_before_the_start_closes_the_name(self, scripted: Scripted):
        run, user = launched()
        runs.request_stop(run=run, user=user)

        reconcile_run(run.pk)

        attempt = newest(run)
        assert (attempt.outcome, attempt.reason) == ("stopped", "It was stopped before it started.")
        assert scripted.calls == [("fence", attempt.name)]

    def test_pause_release_and_resume(self, scripted: Scripted, moved_clock, settings):
        run, user = launched()
        reconcile_run(run.pk)
        beat(newest(run))
        runs.request_pause(run=run, user=user)
        reconcile_run(run.pk)
        assert newest(run).state == "pausing"
        obey(newest(run))
        beat(newest(run), "paused")

        moved_clock(settings.SAFEHOLD_PAUSE_HOLD_SECONDS + 1)
        beat(newest(run), "paused")
        reconcile_run(run.pk)
        scripted.exit(newest(run).name, "stopped")
        reconcile_run(run.pk)

        run.refresh_from_db()
        shown = states.shown(states.Desired(run.desired), newest(run).facts())
        assert shown.word == "paused"
        assert not shown.is_active
        assert not run.needs_reconcile
        runs.request_resume(run=run, user=user)
        reconcile_run(run.pk)
        assert newest(run).number == 2
        assert newest(run).state == "starting"

    def test_trainer_that_pauses_itself_stays_paused(self, scripted: Scripted, moved_clock):
        run, _ = launched()
        reconcile_run(run.pk)
        beat(newest(run))
        beat(newest(run), "paused")
        moved_clock(16)
        beat(newest(run), "paused")

        reconcile_run(run.pk)

        run.refresh_from_db()
        assert run.desired == "paused"
        assert not Command.objects.filter(attempt__run=run).exists()
