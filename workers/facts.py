"""What `decide` knows and what it can order: frozen dataclasses, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from runs.states import Desired, Outcome, State

# The phases of a heartbeat in which the trainer has begun its work.
AT_WORK = frozenset({"training", "saving", "evaluating", "finishing", "finished"})


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long reconciliation waits for what.

    Attributes:
        stop_grace: From the save-and-stop command until the launcher is told to stop the workload.
        kill_grace: From there until it is killed.
        pause_hold: How long a paused attempt keeps its devices.
        contact_lost: Silence after which contact counts as lost.
        start_timeout: How long launching may fail, or a started trainer stay silent.
        node_lost: How long the node of a silent trainer may not answer until it is given up.
        retry_command: After a refused command.
    """

    stop_grace: timedelta = timedelta(seconds=60)
    kill_grace: timedelta = timedelta(seconds=15)
    pause_hold: timedelta = timedelta(minutes=30)
    contact_lost: timedelta = timedelta(seconds=15)
    start_timeout: timedelta = timedelta(minutes=10)
    node_lost: timedelta = timedelta(minutes=5)
    retry_command: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class CommandFacts:
    """The newest pause or resume command of an attempt; `result` is empty until the trainer told it."""

    kind: str
    sent_at: datetime
    result: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class LaunchTrouble:
    """What the tries to start the attempt met."""

    message: str
    retry_at: datetime
    is_final: bool = False
    num: int = 0


@dataclass(frozen=True, kw_only=True)
class AttemptFacts:
    """The newest attempt of a run, as recorded.

    Attributes:
        state_at: When it entered its state.
        last_seen_at: The server's clock at its last heartbeat.
        stop_sent_at: When its stop began.
        phase: What its last heartbeat said.
        hold_command: The newest pause or resume.
        has_stop_command: Whether save-and-stop was sent.
        has_handle: Whether its workload was once started or seen.
        where: Where the workload runs, as last recorded.
        exit: An exit record that arrived over the network; what the launcher sees goes first.
        trouble: Of launching; None while there was none.
    """

    number: int
    state: State
    state_at: datetime
    requested_at: datetime
    outcome: Outcome | None = None
    reason: str = ""
    has_handle: bool = False
    where: str = ""
    last_seen_at: datetime | None = None
    contact_lost_since: datetime | None = None
    paused_at: datetime | None = None
    stop_sent_at: datetime | None = None
    phase: str = ""
    hold_command: CommandFacts | None = None
    has_stop_command: bool = False
    exit: Mapping[str, Any] = field(default_factory=dict)
    trouble: LaunchTrouble | None = None


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """A run, what is wanted of it, and its newest attempt."""

    desired: Desired
    desired_at: datetime | None = None
    is_forced: bool = False
    attempt: AttemptFacts | None = None
    limits: Limits = Limits()


@dataclass(frozen=True)
class Submit:
    """Start the workload of an attempt in *submitting*, unless it exists."""


@dataclass(frozen=True)
class RecordHandle:
    """Keep what the look found of the workload: how to find it again, and where it runs."""


@dataclass(frozen=True)
class Move:
    """Bring the attempt into another state."""

    to: State
    reason: str = ""


@dataclass(frozen=True)
class NoteReason:
    """Keep why the attempt is still where it is."""

    reason: str


@dataclass(frozen=True)
class SendCommand:
    """Have the trainer told at its next heartbeat."""

    kind: str


@dataclass(frozen=True)
class AskStop:
    """Have the launcher end the workload within the grace."""

    grace_seconds: int


@dataclass(frozen=True)
class Kill:
    """End all that lives under the attempt's name, now."""

    reason: str


@dataclass(frozen=True)
class RevokeToken:
    """Take nothing more from the attempt: something of it may live on where nobody can end it."""


@dataclass(frozen=True)
class Fence:
    """Close the name, so that a late start cannot bring the workload to life."""


@dataclass(frozen=True)
class KeepExit:
    """Keep how the workload ended before what is left of it is removed, and the knowledge with it."""

    exit: Mapping[str, Any]


@dataclass(frozen=True)
class End:
    """Record the end of the attempt; only ever of a workload that was seen to be gone."""

    outcome: Outcome
    reason: str
    at: datetime | None = None
    exit: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class NoteContactLost:
    """Flag that nothing is heard from the trainer."""

    since: datetime


@dataclass(frozen=True)
class NoteContactRegained:
    """Take the flag back."""


@dataclass(frozen=True)
class KeepPaused:
    """The trainer paused itself: want it paused, until a person resumes it."""


@dataclass(frozen=True)
class RequestNextAttempt:
    """Ask for the next attempt: the run is wanted and nothing of it lives."""

    reason: str


@dataclass(frozen=True)
class Settle:
    """Nothing is left to do until somebody asks for something."""


Action = (
    Submit | RecordHandle | Move | NoteReason | SendCommand | AskStop | Kill | RevokeToken | Fence | End
    | KeepExit | NoteContactLost | NoteContactRegained | KeepPaused | RequestNextAttempt | Settle
)  # fmt: skip
