"""Passes over runs on a real database: what they do once, however often, late or broken off they come."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from controlplane.common.models import Role, User
from runs import states
from runs.models import Attempt, Command, Run, StateChange
from runs.services import commands, contact, runs
from safehold.config import config_hash
from tests.factories import make_attempt, make_config, make_project, make_run, make_user
from tests.workers.scripted import Scripted
from workers import acting, launchers, locks, passes
from workers.launchers.base import LauncherError, Presence
from workers.models import Watch
from workers.passes import reconcile_run
from workers.tasks.reconcile import sweep


class Killed(BaseException):
    """The worker's process is gone: nothing behind this line happens."""


def launched() -> tuple[Run, User]:
    project = make_project()
    user = make_user(Role.OPERATOR, project)
    run = make_run(config=make_config(project=project, created_by=user), created_by=user)
    runs.request_launch(run=run, user=user)
    return run, user


def newest(run: Run) -> Attempt:
    attempt = run.attempts.first()
    assert attempt is not None
    return attempt


def beat(attempt: Attempt, phase: str = "training") -> None:
    """Let the trainer report, as ingest notes it."""
    Attempt.objects.filter(pk=attempt.pk).update(last_seen_at=timezone.now(), phase=phase)
    contact.follow_phase(attempt=Attempt.objects.get(pk=attempt.pk), phase=phase)


def obey(attempt: Attempt) -> None:
    """Let the trainer report its commands as applied."""
    Command.objects.filter(attempt=attempt, done_at=None).update(
        done_at=timezone.now(), result="applied"
    )


@pytest.fixture
def moved_clock() -> Iterator[Callable[[float], None]]:
    """Give a clock that stands, and a function that moves it on."""
    with time_machine.travel(datetime.now().astimezone(), tick=False) as traveller:
        yield lambda seconds: traveller.shift(timedelta(seconds=seconds))


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


def make_ended(run: Run, scripted: Scripted) -> Attempt:
    reconcile_run(run.pk)
    scripted.exit(newest(run).name, "failed")
    reconcile_run(run.pk)
    return newest(run)


@pytest.mark.django_db
class TestOrphans:
    def test_unknown_name_is_left_alone(self, scripted: Scripted):
        scripted.set("safehold-r999999-a1", Presence.RUNNING)
        scripted.set("somebody-else", Presence.RUNNING)

        sweep()

        assert scripted.calls == []

    def test_broken_launcher_does_not_keep_others_from_their_turn(self, scripted, monkeypatch):
        run, _ = launched()
        old = make_ended(run, scripted)
        scripted.set(old.name, Presence.RUNNING)

        def broken() -> Scripted:
            raise ValueError("no such table")

        factories = {"broken": broken, "local": lambda: scripted}
        monkeypatch.setattr(launchers, "_factories", factories)
        sweep()

        assert ("kill", old.name) in scripted.calls

    def test_open_attempt_is_no_orphan(self, scripted: Scripted):
        attempt = make_attempt(state="running")
        scripted.set(attempt.name, Presence.RUNNING)

        sweep()

        assert ("kill", attempt.name) not in scripted.calls


def a_whole_story(scripted: Scripted) -> tuple[Run, User]:
    """Launch, train, stop, resume, finish; sweeps see to all of it."""
    run, user = launched()
    steps: list[Callable[[], None]] = [
        lambda: beat(newest(run)),
        lambda: runs.request_stop(run=run, user=user),
        lambda: scripted.exit(newest(run).name, "stopped"),
        lambda: runs.request_resume(run=run, user=user) and None,
        lambda: beat(newest(run)),
        lambda: scripted.exit(newest(run).name, "finished"),
    ]
    for step in steps:
        for _ in range(2):
            try:
                sweep()
            except Killed:
                continue
        step()
    for _ in range(3):
        try:
            sweep()
        except Killed:
            continue
    return run, user


@pytest.mark.django_db
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(14))
def test_worker_may_die_around_any_action(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, number: int, is_done: bool
):
    """CEL-03: what it was doing is found again and finished, once."""
    count = 0

    def carry_out(action, scene) -> None:
        nonlocal count
        count += 1
        is_last = count == number + 1
        if is_done or not is_last:
            acting.carry_out(action, scene)
        if is_last:
            raise Killed

    monkeypatch.setattr(passes, "carry_out", carry_out)

    run, _ = a_whole_story(scripted)

    assert count > number, "the story has fewer actions by now; lower the range"
    outcomes = list(run.attempts.order_by("number").values_list("outcome", flat=True))
    assert outcomes == ["stopped", "finished"]
    assert set(scripted.starts.values()) == {1}
    run.refresh_from_db()
    assert not run.needs_reconcile


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


@pytest.mark.django_db
class TestSweep:
    def test_lost_message_costs_one_sweep(self, scripted: Scripted):
        """CEL-02: nothing but the row says that the run is due."""
        run, _ = launched()

        sweep()

        assert newest(run).state == "starting"

    def test_quiet_runs_cost_few_queries_and_no_write(
        self, scripted: Scripted, django_assert_max_num_queries
    ):
        made = [launched()[0] for _ in range(5)]
        sweep()
        for run in made:
            beat(newest(run))
        sweep()

        with django_assert_max_num_queries(5 * 5 + 2) as queries:
            sweep()
        assert not [
            q for q in queries.captured_queries if q["sql"].startswith(("UPDATE", "INSERT"))
        ]

    def test_settled_runs_are_not_looked_at(self, scripted, django_assert_num_queries):
        for _ in range(3):
            make_attempt(state="ended", outcome="finished", ended_at=timezone.now())

        with django_assert_num_queries(1):
            sweep()

    def test_sweep_goes_on_where_its_time_ended(self, scripted, monkeypatch, settings):
        settings.SAFEHOLD_SWEEP_SECONDS = 0
        woken = []
        monkeypatch.setattr("workers.tasks.reconcile.wake", lambda name, **ids: woken.append(ids))
        first, second = launched()[0], launched()[0]

        sweep()
        assert newest(second).state == "requested"
        sweep(**woken.pop())

        assert {newest(first).state, newest(second).state} == {"starting"}


@pytest.mark.django_db(transaction=True)
def test_copies_of_a_task_exclude_each_other(scripted: Scripted):
    """CEL-01: delivered twice at once, the effect happens once."""
    run, _ = launched()
    is_starting, may_go_on = threading.Event(), threading.Event()

    def hold() -> None:
        is_starting.set()
        assert may_go_on.wait(10)

    scripted.on_start = hold
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(in_thread, run.pk)
        assert is_starting.wait(10)
        # The second finds the run taken and is done at once.
        pool.submit(in_thread, run.pk).result(10)
        assert len(scripted.calls) == 1
        may_go_on.set()
        first.result(10)

    assert scripted.starts == {newest(run).name: 1}
    assert newest(run).state == "starting"


@pytest.mark.django_db(transaction=True)
def test_lock_falls_with_the_connection():
    with ThreadPoolExecutor(1) as pool:

        def die_with_the_lock() -> None:
            with locks.run_lock(7) as is_held:
                assert is_held
                connection.close()
            connection.close()

        pool.submit(die_with_the_lock).result(10)
    with locks.run_lock(7) as is_held:
        assert is_held


def in_thread(run_id: int) -> None:
    try:
        reconcile_run(run_id)
    finally:
        connection.close()
