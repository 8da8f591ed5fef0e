"""A small world for reconciliation: a launcher with workloads, trainers that obey or do not, a record.

Every effect is one step of a generator, so a test can stop a pass for ever between any two of them (a
killed worker) or go on with it much later (a frozen one, a task delivered late). There are no locks
here: what holds must hold without them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from runs.services.contact import state_after
from runs.states import MOVES, OPEN_STATES, Desired, State
from workers import facts as f
from workers.launchers.base import Observation, Presence
from workers.reconcile import decide

START = datetime(2026, 1, 1, tzinfo=UTC)
SWEEP = timedelta(seconds=5)
MAX_ROUNDS = 8
LIMITS = f.Limits(
    stop_grace=timedelta(seconds=20),
    kill_grace=timedelta(seconds=10),
    pause_hold=timedelta(seconds=120),
    start_timeout=timedelta(seconds=60),
)


@dataclass
class Workload:
    """What runs under a name. A stubborn one hears neither commands nor SIGTERM."""

    has_wrapper: bool = True
    num_ranks: int = 2
    phase: str = "starting"
    exit: dict[str, object] = field(default_factory=dict)
    is_stubborn: bool = False
    paused_itself: bool = False

    @property
    def is_alive(self) -> bool:
        return self.has_wrapper or self.num_ranks > 0

    def end(self, outcome: str, **exit: object) -> None:
        self.has_wrapper, self.num_ranks = False, 0
        self.exit = {"v": 1, "outcome": outcome, "ranks": {}, "signal": None} | exit


@dataclass
class Record:
    """The rows: a run and its attempts; `commands` are those of the newest attempt."""

    desired: Desired = Desired.STOPPED
    desired_at: datetime | None = None
    is_forced: bool = False
    needs_reconcile: bool = False
    attempts: list[f.AttemptFacts] = field(default_factory=list)
    commands: dict[int, list[f.CommandFacts]] = field(default_factory=dict)

    @property
    def newest(self) -> f.AttemptFacts | None:
        return self.attempts[-1] if self.attempts else None


class Stale(Exception):
    """The record is no longer what the pass was told."""


@dataclass
class World:
    """The record, the launcher and the clock."""

    now: datetime = START
    is_reachable: bool = True
    is_network_up: bool = True
    start_fails: bool = False
    ingest_follows: bool = False
    new_are_stubborn: bool = False
    record: Record = field(default_factory=Record)
    workloads: dict[int, Workload] = field(default_factory=dict)
    fenced: set[int] = field(default_factory=set)
    num_starts: dict[int, int] = field(default_factory=dict)

    # What people do ------------------------------------------------------------------------------

    def want(self, desired: Desired, *, force: bool = False) -> None:
        run, newest = self.record, self.record.newest
        self.now += timedelta(milliseconds=1)
        run.desired, run.desired_at, run.is_forced = desired, self.now, force
        run.needs_reconcile = True
        if desired is Desired.RUNNING and (newest is None or newest.state is State.ENDED):
            self._request_attempt()

    def _request_attempt(self) -> None:
        assert not [a for a in self.record.attempts if a.state in OPEN_STATES]
        number = len(self.record.attempts) + 1
        self.record.attempts.append(
            f.AttemptFacts(
                number=number, state=State.REQUESTED, state_at=self.now, requested_at=self.now
            )
        )
        self.record.commands[number] = []
        self.record.needs_reconcile = True

    # The launcher --------------------------------------------------------------------------------

    def observe(self, number: int) -> Observation:
        if not self.is_reachable:
            return Observation(presence=Presence.UNREACHABLE, reason="time-out")
        workload = self.workloads.get(number)
        is_fenced = number in self.fenced
        if workload is None:
            return Observation(presence=Presence.ABSENT, is_fenced=is_fenced)
        if workload.has_wrapper:
            return Observation(presence=Presence.RUNNING, is_fenced=is_fenced, handle={"pid": 1})
        return Observation(
            presence=Presence.EXITED,
            exit=workload.exit or None,
            num_survivors=workload.num_ranks,
            is_fenced=is_fenced,
        )

    def start(self, number: int) -> None:
        if number in self.workloads:
            return
        if number in self.fenced:
            raise RuntimeError("fenced")
        self.num_starts[number] = self.num_starts.get(number, 0) + 1
        self.workloads[number] = Workload(is_stubborn=self.new_are_stubborn)

    # One pass of a worker ------------------------------------------------------------------------

    def one_pass(self) -> Iterator[str]:
        """Look, decide and act until nothing is left; yields before every effect."""
        for _ in range(MAX_ROUNDS):
            run = self.facts()
            number = run.attempt.number if run.attempt else 0
            yield "look"
            seen = self.observe(number)
            actions = decide(run, seen, self.now)
            if not actions:
                return
            try:
                for action in actions:
                    yield type(action).__name__
                    yield from self._carry_out(action, run, seen)
            except Stale:
                continue
            if actions == [f.Settle()]:
                return

    def facts(self) -> f.RunFacts:
        run, newest = self.record, self.record.newest
        if newest is not None:
            commands = self.record.commands[newest.number]
            holds = [c for c in commands if c.kind in {"pause", "resume"}]
            newest = replace(
                newest,
                hold_command=holds[-1] if holds else None,
                has_stop_command=any(c.kind == "save_and_stop" for c in commands),
            )
        return f.RunFacts(
            desired=run.desired,
            desired_at=run.desired_at,
            is_forced=run.is_forced,
            attempt=newest,
            limits=LIMITS,
        )

    def _carry_out(self, action: f.Action, run: f.RunFacts, seen: Observation) -> Iterator[str]:
        told = run.attempt
        number = told.number if told else 0
        match action:
            case f.Submit():
                yield from self._submit(number)
            case f.RecordHandle():
                self._change(number, has_handle=True)
            case f.Move(to=to):
                self._move(run, to)
            case f.SendCommand(kind=kind):
                self._send(run, kind)
            case f.AskStop():
                self._signal(number)
            case f.Kill():
                if self.is_reachable and (workload := self.workloads.get(number)):
                    workload.has_wrapper, workload.num_ranks = False, 0
            case f.Fence():
                if self.is_reachable:
                    self.fenced.add(number)
            case f.End(outcome=outcome):
                self._guard(run)
                assert self.is_provably_gone(number), "an end was recorded of what may still live"
                self._change(
                    number,
                    state=State.ENDED,
                    state_at=self.now,
                    outcome=outcome,
                    contact_lost_since=None,
                )
            case f.NoteContactLost(since=since):
                self._change(number, contact_lost_since=since)
            case f.NoteContactRegained():
                self._change(number, contact_lost_since=None)
            case f.KeepPaused():
                if self.record.desired_at == run.desired_at:
                    assert self.workloads[number].paused_itself, "a resume was taken back"
                    self.record.desired, self.record.desired_at = Desired.PAUSED, self.now
            case f.RequestNextAttempt():
                newest = self.record.newest
                if newest is not None and (newest.number != number or newest.state in OPEN_STATES):
                    raise Stale
                if self.record.desired is Desired.RUNNING:
                    self._request_attempt()
            case f.Settle():
                newest = self.record.newest
                is_open = newest is not None and newest.state in OPEN_STATES
                if self.record.desired_at == run.desired_at and not is_open:
                    self.record.needs_reconcile = False

    def _submit(self, number: int) -> Iterator[str]:
        # Between the look and the start, and between the start and the record, anything may happen.
        if not self.is_reachable or self.start_fails:
            self._trouble(number, "time-out", is_final=False)
            return
        try:
            self.start(number)
        except RuntimeError as error:
            self._trouble(number, str(error), is_final=True)
            return
        yield "started"
        attempt = self._attempt(number)
        self._change(number, has_handle=True)
        if attempt.state is State.SUBMITTING:
            self._change(number, state=State.STARTING, state_at=self.now)

    def _trouble(self, number: int, message: str, *, is_final: bool) -> None:
        trouble = f.LaunchTrouble(
            message=message, retry_at=self.now + timedelta(seconds=5), is_final=is_final
        )
        self._change(number, trouble=trouble)

    def _move(self, run: f.RunFacts, to: State) -> None:
        self._guard(run)
        assert run.attempt is not None
        assert to in MOVES[run.attempt.state], f"{run.attempt.state} -> {to}"
        times: dict[str, object] = {}
        if to is State.STOPPING:
            times["stop_sent_at"] = self.now
        if to is State.PAUSED:
            times["paused_at"] = self.now
        self._change(run.attempt.number, state=to, state_at=self.now, **times)

    def _send(self, run: f.RunFacts, kind: str) -> None:
        assert run.attempt is not None
        self._guard(run)
        told, now = run.attempt, self.facts().attempt
        assert now is not None
        if told.hold_command != now.hold_command or told.has_stop_command != now.has_stop_command:
            raise Stale
        self.record.commands[told.number].append(f.CommandFacts(kind=kind, sent_at=self.now))

    def _guard(self, run: f.RunFacts) -> None:
        told, newest = run.attempt, self.record.newest
        assert told is not None
        if self.record.desired_at != run.desired_at:
            raise Stale
        if newest is None or newest.number != told.number or newest.state != told.state:
            raise Stale

    def _change(self, number: int, **changes: object) -> None:
        self.record.attempts[number - 1] = replace(self._attempt(number), **changes)  # type: ignore[arg-type]

    def _attempt(self, number: int) -> f.AttemptFacts:
        return self.record.attempts[number - 1]

    def _signal(self, number: int) -> None:
        workload = self.workloads.get(number)
        if self.is_reachable and workload and workload.has_wrapper and not workload.is_stubborn:
            workload.end("stopped", signal=15)

    # What trainers do ----------------------------------------------------------------------------

    def beat(self) -> None:
        """Let the trainer of the newest attempt work on, report and hear its commands."""
        self.now += timedelta(milliseconds=1)
        newest = self.record.newest
        workload = self.workloads.get(newest.number) if newest else None
        if newest is None or workload is None or not workload.num_ranks:
            return
        if workload.phase == "starting":
            workload.phase = "training"
        if self.is_network_up:
            self._report(newest.number, workload)

    def _report(self, number: int, workload: Workload) -> None:
        commands = self.record.commands[number]
        for index, command in enumerate(commands):
            if not command.result and not workload.is_stubborn:
                self._obey(command.kind, workload)
                commands[index] = replace(command, result="applied")
        if self._attempt(number).state is not State.ENDED:
            self._change(number, last_seen_at=self.now, phase=workload.phase)
            after = state_after(self._attempt(number).state, workload.phase)
            if self.ingest_follows and after is not None:
                times = {"paused_at": self.now} if after is State.PAUSED else {}
                self._change(number, state=after, state_at=self.now, **times)

    def _obey(self, kind: str, workload: Workload) -> None:
        if kind == "save_and_stop":
            workload.end("stopped")
        else:
            workload.phase = {"pause": "paused", "resume": "training"}.get(kind, workload.phase)
            workload.paused_itself = workload.paused_itself and kind != "resume"

    # What must be true ---------------------------------------------------------------------------

    def is_provably_gone(self, number: int) -> bool:
        workload = self.workloads.get(number)
        if workload is None:
            return number in self.fenced
        return not workload.is_alive

    def live_numbers(self) -> list[int]:
        return [number for number, workload in self.workloads.items() if workload.is_alive]

    def sweep(self) -> None:
        """Let one period pass, then one whole pass, as the clock and a worker do."""
        for _ in range(int(SWEEP.total_seconds())):
            self.now += timedelta(seconds=1)
            self.beat()
        if self.record.needs_reconcile:
            for _ in self.one_pass():
                pass
