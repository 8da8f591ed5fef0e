"""What every launcher must do, whatever it starts: subclass it with a `bench` fixture."""

from collections.abc import Callable
from typing import Protocol

import pytest

from tests.waiting import wait_until
from workers.launchers.base import Launcher, LauncherError, LaunchSpec, Observation, Presence


class Bench(Protocol):
    """A launcher to test and workloads that behave as told."""

    launcher: Launcher

    def spec(self, name: str, kind: str = "waits") -> LaunchSpec:
        """Return a spec whose program `waits`, `finishes`, `fails` or ends at SIGTERM with `stops`."""
        ...

    def num_started(self, name: str) -> int:
        """Return how many workloads were ever started under the name."""
        ...

    def take_sight(self, name: str) -> None:
        """Make the launcher unable to see the workload."""
        ...


class LauncherContract:
    """The tests. Names are used once."""

    def see(self, bench: Bench, name: str, condition: Callable[[Observation], bool]) -> Observation:
        """Wait until a look shows it."""

        def look() -> Observation | None:
            seen = bench.launcher.observe(name, {})
            return seen if condition(seen) else None

        found = wait_until(look, 20, lambda: f"{name} is {bench.launcher.observe(name, {})}")
        assert found is not None
        return found

    def running(self, bench: Bench, name: str, kind: str = "waits") -> None:
        bench.launcher.start(bench.spec(name, kind))
        self.see(bench, name, lambda seen: seen.presence is Presence.RUNNING)

    def test_name_never_started_is_absent(self, bench: Bench):
        seen = bench.launcher.observe("safehold-r1-a1", {})

        assert (seen.presence, seen.is_gone, seen.is_fenced) == (Presence.ABSENT, True, False)

    def test_started_workload_is_seen_by_its_name_alone(self, bench: Bench):
        self.running(bench, "safehold-r1-a1")

        seen = bench.launcher.observe("safehold-r1-a1", {})
        assert seen.is_alive
        assert seen.handle
        assert "safehold-r1-a1" in set(bench.launcher.live_names())

    def test_second_start_adopts_the_first(self, bench: Bench):
        first = bench.launcher.start(bench.spec("safehold-r1-a1"))
        second = bench.launcher.start(bench.spec("safehold-r1-a1"))

        assert first == second
        assert bench.num_started("safehold-r1-a1") == 1

    def test_name_is_never_used_twice(self, bench: Bench):
        bench.launcher.start(bench.spec("safehold-r1-a1", "finishes"))
        self.see(bench, "safehold-r1-a1", lambda seen: seen.presence is Presence.EXITED)

        bench.launcher.start(bench.spec("safehold-r1-a1", "waits"))

        assert bench.launcher.observe("safehold-r1-a1", {}).presence is Presence.EXITED
        assert bench.num_started("safehold-r1-a1") == 1

    @pytest.mark.parametrize(("kind", "outcome"), [("finishes", "finished"), ("fails", "failed")])
    def test_exit_is_told_with_its_record(self, bench: Bench, kind: str, outcome: str):
        bench.launcher.start(bench.spec("safehold-r1-a1", kind))

        seen = self.see(bench, "safehold-r1-a1", lambda seen: seen.presence is Presence.EXITED)
        assert seen.exit is not None
        assert seen.exit["outcome"] == outcome
        assert seen.is_gone
        assert "safehold-r1-a1" not in set(bench.launcher.live_names())

    def test_start_under_a_closed_name_is_refused_for_good(self, bench: Bench):
        bench.launcher.fence("safehold-r1-a1")
        bench.launcher.fence("safehold-r1-a1")

        with pytest.raises(LauncherError, match="closed") as refused:
            bench.launcher.start(bench.spec("safehold-r1-a1"))
        assert not refused.value.can_retry
        seen = bench.launcher.observe("safehold-r1-a1", {})
        assert (seen.presence, seen.is_fenced) == (Presence.ABSENT, True)
        assert bench.num_started("safehold-r1-a1") == 0

    def test_fence_does_not_touch_what_already_runs(self, bench: Bench):
        self.running(bench, "safehold-r1-a1")

        bench.launcher.fence("safehold-r1-a1")

        seen = bench.launcher.observe("safehold-r1-a1", {})
        assert seen.is_alive
        assert seen.is_fenced

    def test_stop_lets_the_program_end_itself(self, bench: Bench):
        self.running(bench, "safehold-r1-a1", "stops")

        bench.launcher.stop("safehold-r1-a1", {}, grace_seconds=10)
        bench.launcher.stop("safehold-r1-a1", {}, grace_seconds=10)

        self.see(bench, "safehold-r1-a1", lambda seen: seen.is_gone)

    def test_kill_leaves_nothing_alive(self, bench: Bench):
        self.running(bench, "safehold-r1-a1")

        bench.launcher.kill("safehold-r1-a1", {})

        self.see(bench, "safehold-r1-a1", lambda seen: seen.is_gone)
        assert "safehold-r1-a1" not in set(bench.launcher.live_names())

    @pytest.mark.parametrize("name", ["safehold-r1-a1", "safehold-r1-a2"])
    def test_ending_what_is_not_there_is_no_error(self, bench: Bench, name: str):
        bench.launcher.stop(name, {}, grace_seconds=1)
        bench.launcher.kill(name, {})
        bench.launcher.kill(name, {})

    def test_names_do_not_touch_each_other(self, bench: Bench):
        # One name begins with the other.
        self.running(bench, "safehold-r1-a1")
        self.running(bench, "safehold-r1-a11")

        bench.launcher.kill("safehold-r1-a1", {})

        assert bench.launcher.observe("safehold-r1-a11", {}).is_alive

    def test_what_cannot_be_seen_is_unreachable(self, bench: Bench):
        self.running(bench, "safehold-r1-a1")

        bench.take_sight("safehold-r1-a1")

        seen = bench.launcher.observe("safehold-r1-a1", {})
        assert seen.presence is Presence.UNREACHABLE
        assert seen.reason
        assert not seen.is_gone
