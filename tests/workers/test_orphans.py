"""What outlived its attempt is ended, and nothing else."""

import pytest

from tests.factories import make_attempt
from tests.workers.reporting import launched, make_ended
from tests.workers.scripted import Scripted
from workers import launchers
from workers.launchers.base import Presence
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
