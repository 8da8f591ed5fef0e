"""Reconciliation in generated histories: killed and frozen workers, lost sight, silence, crashes."""

import math
from collections.abc import Iterator
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from runs.states import OPEN_STATES, Desired, Outcome, State
from tests.workers.world import LIMITS, SWEEP, World

# docs/explanation/reconciliation.md states these bounds.
SWEEPS_TO_START = 3
SWEEPS_TO_PAUSE = 6
SWEEPS_TO_STOP = math.ceil((LIMITS.stop_grace + LIMITS.kill_grace) / SWEEP) + 2

FAULTS = ["is_reachable", "is_network_up", "start_fails"]


class Histories(RuleBasedStateMachine):
    """People, time, faults and any number of passes interleave as they like."""

    passes = Bundle("passes")

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.stopping: set[int] = set()
        self.num_asked = 0

    @rule(
        desired=st.sampled_from(Desired),
        force=st.booleans(),
    )
    def a_person_asks(self, desired: Desired, force: bool) -> None:
        self.num_asked += desired is Desired.RUNNING
        self.world.want(desired, force=force and desired is Desired.STOPPED)

    @initialize(
        num_sweeps=st.integers(0, 3), ingest_follows=st.booleans(), is_stubborn=st.booleans()
    )
    def launched(self, num_sweeps: int, ingest_follows: bool, is_stubborn: bool) -> None:
        self.world.ingest_follows = ingest_follows
        self.world.new_are_stubborn = is_stubborn
        self.a_person_asks(Desired.RUNNING, force=False)
        for _ in range(num_sweeps):
            self.world.sweep()

    @rule(seconds=st.sampled_from([1, 4, 11, 31, 121]), is_heard=st.booleans())
    def time_passes(self, seconds: int, is_heard: bool) -> None:
        self.world.now += timedelta(seconds=seconds)
        if is_heard:
            self.world.beat()

    @rule()
    def a_whole_sweep(self) -> None:
        self.world.sweep()
        self.check_truth_after_a_sweep()

    @rule(target=passes, num_steps=st.integers(0, 12))
    def a_pass_begins_and_halts(self, num_steps: int) -> Iterator[str]:
        running = self.world.one_pass()
        _advance(running, num_steps)
        return running

    @rule(running=consumes(passes), num_steps=st.integers(1, 30))
    def a_halted_pass_goes_on_and_dies(self, running: Iterator[str], num_steps: int) -> None:
        _advance(running, num_steps)

    @rule(kind=st.sampled_from(FAULTS))
    def a_fault_begins_or_ceases(self, kind: str) -> None:
        setattr(self.world, kind, not getattr(self.world, kind))

    @precondition(lambda self: self.world.live_numbers())
    @rule(kind=st.sampled_from(["crash", "finish", "wrapper", "vanish", "itself"]))
    def something_happens_to_the_workload(self, kind: str) -> None:
        workload = self.world.workloads[self.world.live_numbers()[0]]
        if kind == "crash":
            workload.end("failed", ranks={"0": {"exit_code": None, "signal": 9, "error": None}})
        elif kind == "finish":
            workload.end("finished")
        elif kind == "wrapper":
            workload.has_wrapper = False
        elif kind == "itself":
            workload.phase, workload.paused_itself = "paused", True
        else:
            workload.has_wrapper, workload.num_ranks = False, 0

    @rule()
    def faults_cease(self) -> None:
        world = self.world
        world.is_reachable = world.is_network_up = True
        world.start_fails = False
        desired = world.record.desired
        bound = {
            Desired.STOPPED: SWEEPS_TO_STOP,
            Desired.PAUSED: SWEEPS_TO_PAUSE + SWEEPS_TO_STOP,
            Desired.RUNNING: SWEEPS_TO_START + SWEEPS_TO_STOP,
        }[desired]
        is_held_up = any(w.is_stubborn and w.is_alive for w in world.workloads.values())
        for _ in range(bound):
            world.sweep()
        self.check_reached(is_held_up=is_held_up)

    def check_reached(self, *, is_held_up: bool) -> None:
        record, newest = self.world.record, self.world.record.newest
        assert newest is not None
        if record.desired is Desired.STOPPED:
            assert newest.state is State.ENDED, newest
            assert not self.world.live_numbers()
            assert not record.needs_reconcile
        elif newest.state is State.ENDED:
            # Its end is told, and only a person goes on from here.
            assert not self.world.live_numbers()
            assert not record.needs_reconcile
            is_asked_again = newest.stop_sent_at and record.desired_at > newest.stop_sent_at
            is_wanted = record.desired is Desired.RUNNING and newest.outcome is not Outcome.FINISHED
            assert not (is_asked_again and is_wanted), "a resume was forgotten"
        elif newest.state is State.STOPPING:
            # A hold that ran out meanwhile, or a resume that waits for its stop.
            for _ in range(SWEEPS_TO_STOP + SWEEPS_TO_START):
                self.world.sweep()
            assert self.world.record.attempts[newest.number - 1].state is State.ENDED
        elif record.desired is Desired.PAUSED:
            assert newest.state is State.PAUSED or is_held_up, newest
        else:
            assert newest.state is State.RUNNING or is_held_up, newest
            assert self.world.live_numbers() == [newest.number]

    def check_truth_after_a_sweep(self) -> None:
        newest = self.world.record.newest
        if newest is None or not self.world.is_reachable or not self.world.record.needs_reconcile:
            return
        if newest.state in OPEN_STATES - {State.REQUESTED, State.SUBMITTING}:
            assert not self.world.is_provably_gone(newest.number), newest

    @invariant()
    def never_two_live_workloads(self) -> None:
        assert len(self.world.live_numbers()) <= 1

    @invariant()
    def never_a_live_workload_of_an_ended_attempt(self) -> None:
        for attempt in self.world.record.attempts:
            if attempt.state is State.ENDED:
                assert self.world.is_provably_gone(attempt.number), attempt

    @invariant()
    def never_an_attempt_that_nobody_asked_for(self) -> None:
        assert len(self.world.record.attempts) <= self.num_asked

    @invariant()
    def never_started_twice(self) -> None:
        assert all(count == 1 for count in self.world.num_starts.values())

    @invariant()
    def never_a_stop_taken_back(self) -> None:
        for attempt in self.world.record.attempts:
            if attempt.state is State.STOPPING:
                self.stopping.add(attempt.number)
            elif attempt.number in self.stopping:
                assert attempt.state is State.ENDED

    @invariant()
    def never_forgotten_while_something_is_due(self) -> None:
        record, newest = self.world.record, self.world.record.newest
        if newest is not None and newest.state is not State.ENDED:
            assert record.needs_reconcile

    @invariant()
    def a_lost_attempt_was_really_gone(self) -> None:
        for attempt in self.world.record.attempts:
            if attempt.outcome is Outcome.LOST:
                assert not self.world.workloads[attempt.number].is_alive


def _advance(running: Iterator[str], num_steps: int) -> None:
    for _ in range(num_steps):
        if next(running, None) is None:
            return


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=500, stateful_step_count=40, deadline=None)
