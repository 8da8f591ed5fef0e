"""A run that fails, or kills its workers, holds up no other."""

import pytest
from django.utils import timezone

from runs.services import runs
from tests.workers.reporting import Killed, launched, newest
from tests.workers.scripted import Scripted
from workers import acting, passes
from workers.launchers.base import LauncherError
from workers.models import Watch
from workers.passes import reconcile_run
from workers.tasks.reconcile import sweep


@pytest.mark.django_db
class TestTrouble:
    def test_failing_run_does_not_stop_the_sweep(self, scripted: Scripted, monkeypatch):
        bad, good = launched()[0], launched()[0]

        def carry_out(action, scene) -> None:
            if scene.run.pk == bad.pk:
                raise ValueError("a bug")
            acting.carry_out(action, scene)

        monkeypatch.setattr(passes, "carry_out", carry_out)
        sweep()

        assert newest(good).state == "starting"
        assert newest(bad).state == "requested"
        event = bad.events.get(kind="reconcile_failed")
        assert "ValueError: a bug" in event.message

    def test_an_expected_refusal_is_one_line_and_no_traceback(
        self, scripted: Scripted, monkeypatch, caplog
    ):
        run, _ = launched()

        def carry_out(action, scene) -> None:
            raise LauncherError("The cluster refused.", can_retry=True)

        monkeypatch.setattr(passes, "carry_out", carry_out)
        sweep()

        told = [r for r in caplog.records if r.message == "reconcile.not_done"]
        assert [(r.levelname, r.error, r.exc_info) for r in told] == [
            ("WARNING", "The cluster refused.", None)
        ]
        assert "The cluster refused." in run.events.get(kind="reconcile_failed").message

    def test_failing_run_is_tried_less_and_less_often(self, scripted, monkeypatch, moved_clock):
        run, user = launched()
        tries = []

        def carry_out(action, scene) -> None:
            tries.append(timezone.now())
            raise ValueError("a bug")

        monkeypatch.setattr(passes, "carry_out", carry_out)
        for _ in range(400):
            sweep()
            moved_clock(5)

        assert 10 <= len(tries) <= 15
        assert run.events.filter(kind="reconcile_failed").count() <= 4
        # A person who asks for something is not made to wait.
        runs.request_stop(run=run, user=user)
        before = len(tries)
        sweep()
        assert len(tries) == before + 1

    def test_run_that_kills_its_workers_is_stopped_and_reported(
        self, scripted, monkeypatch, moved_clock
    ):
        run, _ = launched()
        deaths = 0

        def carry_out(action, scene) -> None:
            nonlocal deaths
            deaths += 1
            raise Killed

        monkeypatch.setattr(passes, "carry_out", carry_out)
        for _ in range(200):
            try:
                sweep()
            except Killed:
                pass
            moved_clock(5)

        assert deaths == 5
        assert run.events.filter(kind="reconcile_poison").exists()
        monkeypatch.setattr(passes, "carry_out", acting.carry_out)
        moved_clock(3600)
        sweep()
        assert newest(run).state == "starting"
        assert Watch.objects.get(pk=run.pk).num_deaths == 0

    def test_one_death_costs_no_time(self, scripted, monkeypatch):
        run, _ = launched()
        monkeypatch.setattr(passes, "carry_out", lambda *_: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            sweep()
        monkeypatch.setattr(passes, "carry_out", acting.carry_out)

        sweep()

        assert newest(run).state == "starting"

    def test_kill_that_does_not_work_is_told_and_tried_again(
        self, scripted, monkeypatch, moved_clock
    ):
        run, user = launched()
        reconcile_run(run.pk)
        runs.request_stop(run=run, user=user, force=True)

        def kill(name, handle) -> None:
            raise LauncherError("Process 7 does not die.", can_retry=True)

        with monkeypatch.context() as patched:
            patched.setattr(scripted, "kill", kill)
            reconcile_run(run.pk)
        assert run.events.filter(message__contains="Process 7 does not die.").exists()

        moved_clock(11)
        reconcile_run(run.pk)
        assert newest(run).outcome == "stopped"
