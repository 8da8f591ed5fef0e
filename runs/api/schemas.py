"""What the API says of configs, runs and reports."""

from datetime import datetime
from typing import Any

from pydantic import Field

from controlplane.common.api import Output


class ConfigOut(Output):
    """A config without its document."""

    id: int
    project: str
    name: str
    kind: str
    hash: str
    family_hash: str
    schema_version: int
    card: int | None
    parent: int | None
    created_by: str
    created_at: datetime
    frozen_at: datetime | None
    frozen_by: str | None
    approval: str = Field(description="State of the newest approval; empty where nobody asked.")


class ConfigDetailOut(ConfigOut):
    """A config with its canonical document, and the same as TOML."""

    document: dict[str, Any]
    toml: str
    written: str = Field(
        description="The text it was written as, where that has comments or an order of its own."
    )
    same_as: int | None = Field(
        description="The oldest other config of the project with the same document."
    )


class ChangeOut(Output):
    """One field that differs."""

    path: str
    old: Any
    new: Any
    unit: str
    growth: float | None = Field(
        description="How many times as large; null of what is no quantity."
    )
    note: str = Field(description="Why it is no variable of its own; empty where it is one.")


class FactorOut(Output):
    """One variable that changed, and the fields that follow from it."""

    name: str
    title: str
    paths: list[str]
    following: list[str]


class DiffOut(Output):
    """What differs, field by field and variable by variable."""

    a: int
    b: int
    changes: list[ChangeOut]
    factors: list[FactorOut]
    num_factors: int
    more_than_one: bool
    verdict: str


class AttemptOut(Output):
    """One try at a run."""

    number: int
    state: str
    outcome: str
    reason: str
    where: str
    start_step: int
    step: int | None
    requested_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    last_seen_at: datetime | None
    contact_lost_since: datetime | None
    from_checkpoint: int | None
    takes: str | None = Field(
        description="Of that checkpoint: `state`, everything, or `weights` alone; null without one."
    )


class RunOut(Output):
    """A run as a list shows it."""

    id: int
    project: str
    name: str
    state: str
    since: datetime | None
    why: str
    acts: list[str] = Field(description="What may be asked for now.")
    desired: str
    step: int | None
    total_steps: int | None
    tokens: int | None
    loss: float | str | None
    tokens_per_second: float | str | None = Field(description="Of now; null unless the run trains.")
    config: int
    config_hash: str
    card: int | None
    parent: int | None
    from_checkpoint: int | None
    takes: str | None = Field(
        description="Of that checkpoint: `state`, everything, or `weights` alone; null without one."
    )
    checkpoint_step: int | None
    checkpoint_state: str
    launcher: str
    num_devices: int
    group: str
    tags: list[str]
    archived_at: datetime | None
    delete_after: datetime | None = Field(description="When its metrics and logs are deleted.")
    deleted_at: datetime | None
    created_by: str
    created_at: datetime


class RunDetailOut(RunOut):
    """A run with its notes and its attempts, the newest first."""

    notes: str
    version: str = Field(description="Of name, group, tags and notes: for `If-Match` of a change.")
    attempts: list[AttemptOut]


class EventOut(Output):
    """One line of the timeline."""

    id: int
    at: datetime
    kind: str
    message: str
    attempt: int | None
    user: str | None
    data: dict[str, Any]


class FindingOut(Output):
    """One statement of one check."""

    code: str
    severity: str
    message: str
    evidence: dict[str, Any]
    advice: str


class PodOut(Output):
    """One pod; `word` is pending, starting, running, lost, ending, succeeded, failed or gone."""

    name: str
    index: int
    node: str
    word: str
    reason: str
    exit_code: int | None


class PodsOut(Output):
    """The pods of an attempt: all counted by word, at most 500 shown; and its drift."""

    attempt: int
    num: int
    words: dict[str, int]
    pods: list[PodOut]
    seen_at: datetime | None
    drift: list[FindingOut]


class ReportOut(Output):
    """A preflight report; the verdict is empty until it is done."""

    id: int
    config: int
    config_hash: str
    state: str
    verdict: str
    findings: list[FindingOut]
    progress: dict[str, Any]
    only: list[str]
    error: str
    requested_at: datetime
    ended_at: datetime | None


class ViewOut(Output):
    """A list of runs under a name; `query` is that of the page of runs."""

    id: int
    project: str
    name: str
    query: str
    is_shared: bool
    owner: str
    created_at: datetime
