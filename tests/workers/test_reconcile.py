"""The rules of reconciliation, one by one."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.states import Desired, Outcome, State
from workers import facts as f
from workers.launchers.base import Observation, Presence
from workers.reconcile import decide

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LIMITS = f.Limits()
ABSENT = Observation(presence=Presence.ABSENT)
FENCED = Observation(presence=Presence.ABSENT, is_fenced=True)
PENDING = Observation(presence=Presence.PENDING, reason="0/4 nodes have room.", handle={"uid": "x"})
RUNNING = Observation(presence=Presence.RUNNING, handle={"pid": 1})
UNREACHABLE = Observation(presence=Presence.UNREACHABLE, reason="time-out")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def attempt(state: State = State.RUNNING, **changes: object) -> f.AttemptFacts:
    is_new = state in {State.REQUESTED, State.SUBMITTING}
    values: dict[str, object] = {"state_at": ago(3), "requested_at": ago(60)}
    if not is_new:
        values |= {"has_handle": True, "last_seen_at": ago(1), "phase": "training"}
    if state in {State.WAITING, State.STARTING}:
        values |= {"last_seen_at": None, "phase": ""}
    return f.AttemptFacts(number=1, state=state, **(values | changes))  # type: ignore[arg-type]


def run(
    newest: f.AttemptFacts | None, desired: Desired = Desired.RUNNING, **changes: object
) -> f.RunFacts:
    values: dict[str, object] = {"desired_at": ago(60), "limits": LIMITS}
    return f.RunFacts(desired=desired, attempt=newest, **(values | changes))  # type: ignore[arg-type]


def command(kind: str, result: str = "", seconds: float = 1) -> f.CommandFacts:
    return f.CommandFacts(kind=kind, sent_at=ago(seconds), result=result)


class TestStarting:
    def test_requested_attempt_is_claimed_then_submitted(self):
        assert decide(run(attempt(State.REQUESTED)), ABSENT, NOW) == [
            f.Move(State.SUBMITTING),
            f.Submit(),
        ]

    def test_workload_left_by_a_dead_worker_is_adopted(self):
        actions = decide(run(attempt(State.SUBMITTING)), RUNNING, NOW)

        assert actions == [f.RecordHandle(), f.Move(State.STARTING)]

    def test_workload_that_was_never_made_is_submitted_again(self):
        assert decide(run(attempt(State.SUBMITTING)), ABSENT, NOW) == [f.Submit()]

    def test_start_that_somebody_is_at_is_joined_and_not_believed(self):
        starting = Observation(presence=Presence.PENDING)

        assert decide(run(attempt(State.SUBMITTING)), starting, NOW) == [f.Submit()]

    def test_failed_start_waits_for_its_time(self):
        trouble = f.LaunchTrouble(message="no room", retry_at=NOW + timedelta(seconds=2))

        told = attempt(State.SUBMITTING, trouble=trouble, reason="no room")
        assert decide(run(told), ABSENT, NOW) == []
        later = NOW + timedelta(seconds=2)
        assert decide(run(attempt(State.SUBMITTING, trouble=trouble)), ABSENT, later) == [
            f.Submit()
        ]

    def test_what_holds_up_a_start_is_told_meanwhile(self):
        trouble = f.LaunchTrouble(message="no room", retry_at=NOW + timedelta(seconds=2))
        trying = attempt(State.SUBMITTING, trouble=trouble, reason="A worker has taken it up.")
        assert decide(run(trying), ABSENT, NOW) == [f.NoteReason("no room")]

        for state in (State.REQUESTED, State.SUBMITTING):
            assert decide(run(attempt(state)), UNREACHABLE, NOW) == [f.NoteReason("time-out")]
            assert decide(run(attempt(state, reason="time-out")), UNREACHABLE, NOW) == []

    @pytest.mark.parametrize(("is_final", "age"), [(True, 1), (False, 601)])
    def test_start_that_will_not_be_closes_the_name_and_says_why(self, is_final: bool, age: float):
        trouble = f.LaunchTrouble(message="No such image.", retry_at=NOW, is_final=is_final)
        facts = run(attempt(State.SUBMITTING, trouble=trouble, state_at=ago(age)))

        assert decide(facts, ABSENT, NOW) == [f.Fence()]
        assert decide(facts, FENCED, NOW) == [f.End(Outcome.COULD_NOT_START, "No such image.")]

    def test_pending_reason_is_kept_up_to_date(self):
        waiting = attempt(State.WAITING, reason="It waits for its turn.")

        assert decide(run(waiting), PENDING, NOW) == [f.NoteReason("0/4 nodes have room.")]

    def test_first_work_makes_it_running(self):
        working = attempt(State.STARTING, last_seen_at=ago(1), phase="training")

        assert decide(run(working), RUNNING, NOW) == [f.Move(State.RUNNING)]

    def test_trainer_that_never_reports_is_not_starting_for_ever(self):
        silent = attempt(State.STARTING, state_at=ago(601))

        assert decide(run(silent), RUNNING, NOW) == [
            f.Move(State.RUNNING, "Its workload runs, but it never reported.")
        ]


class TestStopping:
    def stop(self, newest: f.AttemptFacts, seen: Observation = RUNNING, **changes: object):
        return decide(run(newest, Desired.STOPPED, **changes), seen, NOW)

    @pytest.mark.parametrize("state", [State.REQUESTED, State.SUBMITTING])
    def test_name_is_closed_before_an_attempt_that_never_started_ends(self, state: State):
        (move,) = self.stop(attempt(state), ABSENT)
        assert isinstance(move, f.Move)
        assert move.to is State.STOPPING

        stopping = attempt(State.STOPPING, has_handle=False, last_seen_at=None)
        assert self.stop(stopping, ABSENT) == [f.Fence()]
        assert self.stop(stopping, FENCED) == [
            f.End(Outcome.STOPPED, "It was stopped before it started.")
        ]

    def test_stop_is_a_command_first(self):
        assert self.stop(attempt()) == [f.Move(State.STOPPING, "It was asked to save and stop.")]
        assert self.stop(attempt(State.STOPPING)) == [f.SendCommand("save_and_stop")]
        assert self.stop(attempt(State.STOPPING, has_stop_command=True)) == []

    def test_then_the_launchers_stop_then_a_kill(self):
        told = {"has_stop_command": True}

        assert self.stop(attempt(State.STOPPING, state_at=ago(59), **told)) == []
        assert self.stop(attempt(State.STOPPING, state_at=ago(61), **told)) == [f.AskStop(14)]
        (kill,) = self.stop(attempt(State.STOPPING, state_at=ago(75), **told))
        assert isinstance(kill, f.Kill)

    @pytest.mark.parametrize("last_seen", [None, 16])
    def test_who_is_not_heard_gets_the_signal_at_once_and_the_whole_grace(self, last_seen):
        seen_at = ago(last_seen) if last_seen else None
        deaf = attempt(State.STOPPING, has_stop_command=True, last_seen_at=seen_at)

        assert f.AskStop(72) in self.stop(deaf)

    def test_forced_stop_kills_without_a_command(self):
        (move,) = self.stop(attempt(), is_forced=True)
        assert move == f.Move(State.STOPPING, "It was stopped by force.")
        assert self.stop(attempt(State.STOPPING), is_forced=True) == [
            f.Kill("It was stopped by force.")
        ]

    def test_stop_goes_on_when_the_run_is_wanted_again(self):
        wanted = run(attempt(State.STOPPING, has_stop_command=True), desired_at=ago(1))

        assert decide(wanted, RUNNING, NOW) == []

    def test_resume_asked_while_stopping_is_answered_after_the_end(self):
        ended = attempt(State.ENDED, outcome=Outcome.STOPPED, stop_sent_at=ago(30))

        (action,) = decide(run(ended, desired_at=ago(10)), ABSENT, NOW)
        assert isinstance(action, f.RequestNextAttempt)

    @pytest.mark.parametrize(
        ("outcome", "desired_at"), [(Outcome.FINISHED, ago(10)), (Outcome.STOPPED, ago(40))]
    )
    def test_no_attempt_follows_that_nobody_asked_for(self, outcome: Outcome, desired_at):
        ended = attempt(State.ENDED, outcome=outcome, stop_sent_at=ago(30))

        assert decide(run(ended, desired_at=desired_at), ABSENT, NOW) == [f.Settle()]

    def test_failed_attempt_is_not_restarted(self):
        ended = attempt(State.ENDED, outcome=Outcome.FAILED)

        assert decide(run(ended), ABSENT, NOW) == [f.Settle()]


class TestPausing:
    def hold(self, newest: f.AttemptFacts, **changes: object):
        return decide(run(newest, Desired.PAUSED, **changes), RUNNING, NOW)

    def test_pause_is_a_command_and_then_a_state(self):
        assert self.hold(attempt()) == [f.SendCommand("pause")]
        sent = attempt(hold_command=command("pause"))
        assert self.hold(sent) == [f.Move(State.PAUSING)]
        pausing = attempt(State.PAUSING, hold_command=command("pause"))
        assert self.hold(pausing) == []
        holds = attempt(State.PAUSING, phase="paused", hold_command=command("pause", "applied"))
        assert self.hold(holds) == [f.Move(State.PAUSED)]

    def test_refused_pause_is_told_and_asked_again_later(self):
        refused = command("pause", "refused")
        (move,) = self.hold(attempt(State.PAUSING, hold_command=refused))
        assert isinstance(move, f.Move)
        assert move.to is State.RUNNING

        assert self.hold(attempt(hold_command=refused)) == []
        old = command("pause", "refused", seconds=61)
        assert self.hold(attempt(hold_command=old)) == [f.SendCommand("pause")]

    def test_held_attempt_is_resumed_by_a_command(self):
        held = attempt(
            State.PAUSED,
            phase="paused",
            paused_at=ago(3),
            hold_command=command("pause", "applied", 9),
        )

        assert decide(run(held, desired_at=ago(1)), RUNNING, NOW) == [f.SendCommand("resume")]

    def test_resume_is_sent_once(self):
        held = attempt(State.PAUSED, phase="paused", hold_command=command("resume"))

        assert decide(run(held, desired_at=ago(2)), RUNNING, NOW) == []

    def test_devices_are_released_after_the_hold(self):
        held = attempt(State.PAUSED, phase="paused", paused_at=ago(1801), state_at=ago(1801))

        (move,) = self.hold(held)
        assert isinstance(move, f.Move)
        assert move.to is State.STOPPING

    def test_trainer_that_paused_itself_is_kept_paused(self):
        itself = attempt(State.PAUSED, phase="paused", state_at=ago(16))

        assert decide(run(itself), RUNNING, NOW) == [f.KeepPaused()]

    def test_attempt_that_never_started_ends_instead_of_holding(self):
        (move,) = decide(run(attempt(State.REQUESTED), Desired.PAUSED), ABSENT, NOW)

        assert isinstance(move, f.Move)
        assert move.to is State.STOPPING


class TestGone:
    def test_exit_ends_the_attempt(self):
        record = {"outcome": "finished", "message": "All ranks finished."}
        seen = Observation(presence=Presence.EXITED, exit=record)

        (end,) = decide(run(attempt()), seen, NOW)
        assert isinstance(end, f.End)
        assert (end.outcome, end.reason) == (Outcome.FINISHED, "All ranks finished.")

    def test_survivors_are_killed_before_the_end(self):
        seen = Observation(presence=Presence.EXITED, num_survivors=2)

        (kill,) = decide(run(attempt()), seen, NOW)
        assert isinstance(kill, f.Kill)

    def test_wrapper_without_a_record_is_lost(self):
        (end,) = decide(run(attempt()), Observation(presence=Presence.EXITED), NOW)

        assert isinstance(end, f.End)
        assert (end.outcome, end.at) == (Outcome.LOST, ago(1))

    def test_vanished_workload_is_lost_once_its_name_is_closed(self):
        assert decide(run(attempt()), ABSENT, NOW) == [f.Fence()]
        assert decide(run(attempt()), FENCED, NOW) == [
            f.End(Outcome.LOST, "Its workload vanished without a trace.", at=ago(1))
        ]

    def test_record_that_came_over_the_network_is_used_where_none_is_seen(self):
        told = {"outcome": "failed", "message": "Rank 0 ended."}

        (end,) = decide(run(attempt(exit=told)), Observation(presence=Presence.EXITED), NOW)
        assert isinstance(end, f.End)
        assert end.outcome is Outcome.FAILED

    def test_workload_of_an_ended_attempt_is_killed_before_anything_follows(self):
        ended = attempt(State.ENDED, outcome=Outcome.STOPPED, stop_sent_at=ago(30))
        wanted = run(ended, desired_at=ago(1))

        assert decide(wanted, RUNNING, NOW) == [f.Kill("The attempt had ended.")]
        assert decide(wanted, UNREACHABLE, NOW) == []


class TestUnreachable:
    @pytest.mark.parametrize("state", [s for s in State if s is not State.ENDED])
    @pytest.mark.parametrize("desired", Desired)
    @pytest.mark.parametrize("is_forced", [False, True])
    def test_nothing_is_started_ended_or_killed_unseen(self, state, desired, is_forced):
        facts = run(attempt(state), desired, is_forced=is_forced)

        for action in decide(facts, UNREACHABLE, NOW):
            assert not isinstance(
                action,
                f.Submit | f.End | f.Kill | f.Fence | f.AskStop | f.RequestNextAttempt | f.Settle,
            )

    def test_stop_still_travels_by_heartbeat(self):
        stopping = run(attempt(State.STOPPING), Desired.STOPPED)

        assert decide(stopping, UNREACHABLE, NOW) == [f.SendCommand("save_and_stop")]

    def test_healthy_trainer_out_of_sight_is_left_alone(self):
        assert decide(run(attempt()), UNREACHABLE, NOW) == []


class TestContact:
    def test_silence_is_flagged_once(self):
        silent = attempt(last_seen_at=ago(16))

        assert decide(run(silent), RUNNING, NOW) == [f.NoteContactLost(ago(16))]
        known = attempt(last_seen_at=ago(16), contact_lost_since=ago(16))
        assert decide(run(known), RUNNING, NOW) == []

    def test_flag_is_taken_back(self):
        heard = attempt(contact_lost_since=ago(40))

        assert decide(run(heard), RUNNING, NOW) == [f.NoteContactRegained()]


def test_run_that_was_never_launched_needs_nothing():
    assert decide(run(None, Desired.STOPPED), ABSENT, NOW) == [f.Settle()]


def test_decision_depends_on_nothing_but_its_arguments():
    facts = run(attempt(State.SUBMITTING))

    assert decide(facts, ABSENT, NOW) == decide(facts, ABSENT, NOW)
    assert facts == run(attempt(State.SUBMITTING))


class TestLine:
    WAITS = Observation(presence=Presence.PENDING, reason="2 before it.", handle={"waiting": True})
    DUE = Observation(presence=Presence.PENDING, is_due=True, handle={"waiting": True})

    def test_what_took_its_place_waits(self):
        actions = decide(run(attempt(State.SUBMITTING)), self.WAITS, NOW)
        assert actions == [f.RecordHandle(), f.Move(State.WAITING, "2 before it.")]
        assert decide(run(attempt(State.WAITING)), self.WAITS, NOW) == [
            f.NoteReason("2 before it.")
        ]

    def test_whose_turn_it_is_starts_again(self):
        assert decide(run(attempt(State.WAITING)), self.DUE, NOW) == [f.Submit()]

    def test_nothing_starts_that_is_wanted_paused_or_stopped(self):
        # It would stand in the way of all behind it.
        [move] = decide(run(attempt(State.WAITING), Desired.PAUSED), self.DUE, NOW)
        assert move == f.Move(State.STOPPING, "It was paused before it started.")
        [move] = decide(run(attempt(State.WAITING), Desired.STOPPED), self.DUE, NOW)
        assert move.to is State.STOPPING

    def test_a_start_that_failed_waits_and_one_that_never_can_is_told(self):
        trouble = f.LaunchTrouble(message="no room", retry_at=NOW + timedelta(seconds=2))
        told = attempt(State.WAITING, trouble=trouble, reason="no room")
        assert decide(run(told), self.DUE, NOW) == []
        for more in ({"is_final": True}, {"num": 20}):
            final = f.LaunchTrouble(message="no python", retry_at=NOW, **more)
            keep, kill = decide(run(attempt(State.WAITING, trouble=final)), self.DUE, NOW)
            assert (keep.exit["outcome"], keep.exit["message"]) == ("could_not_start", "no python")
            assert isinstance(kill, f.Kill)
