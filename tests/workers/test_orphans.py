"""What outlived its attempt is ended, and nothing else."""

import pytest
from django.utils import timezone

from tests.factories import make_attempt
from tests.workers.reporting import launched, make_ended
from tests.workers.scripted import Scripted
from workers import launchers, orphans
from workers.launchers.base import LauncherError, Presence
from workers.tasks.reconcile import sweep


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


@pytest.mark.django_db
class TestLeftovers:
    """A launcher whose workloads leave something behind."""

    @pytest.fixture
    def cleaner(self, scripted: Scripted) -> Scripted:
        now = timezone.now()
        ended = {"state": "ended", "outcome": "finished", "ended_at": now - orphans.KEEP * 2}
        names = [make_attempt(**ended).name for _ in range(5)]
        scripted.names = lambda: names  # type: ignore[attr-defined]
        scripted.clean = lambda name: scripted.calls.append(("clean", name))  # type: ignore[attr-defined]
        return scripted

    def test_a_sweep_removes_a_part_of_many(self, cleaner, monkeypatch):
        monkeypatch.setattr(orphans, "MOST", 2)

        assert orphans.clean_up() == 2
        assert len(cleaner.calls) == 2

    def test_one_that_cannot_be_removed_keeps_no_other(self, cleaner):
        first, *others = cleaner.names()

        def clean(name: str) -> None:
            if name == first:
                raise LauncherError("It is not ours to remove.", can_retry=False)
            cleaner.calls.append(("clean", name))

        cleaner.clean = clean
        assert orphans.clean_up() == len(others)

    def test_a_launcher_out_of_reach_is_asked_once(self, cleaner):
        def clean(name: str) -> None:
            cleaner.calls.append(("clean", name))
            raise LauncherError("It does not answer.", can_retry=True)

        cleaner.clean = clean
        assert orphans.clean_up() == 0
        assert len(cleaner.calls) == 1
