"""The table of runs: which rows a filter means, and what one line says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from controlplane.common import access
from controlplane.common.models import Project, User
from runs import listings, states
from runs.models import Attempt, Run

# The orders that the table offers; each is a column that is never null.
ORDERS = {"newest": "-pk", "oldest": "pk", "name": "name", "activity": "-active_at"}
_FAILED = (
    states.Outcome.FAILED,
    states.Outcome.COULD_NOT_START,
    states.Outcome.LOST,
    states.Outcome.TAKEN_AWAY,
)


@dataclass(frozen=True, kw_only=True)
class RunFilters:
    """What the address of the table asks for."""

    text: str = ""
    state: str = ""
    owner: str = ""
    card_id: int | None = None
    config_id: int | None = None
    order: str = "newest"
    cursor: str = ""


@dataclass(frozen=True)
class RunRow:
    """One line: the run, its newest attempt and what is said of them."""

    run: Run
    attempt: Attempt | None
    shown: states.Shown = field(init=False)

    def __post_init__(self) -> None:
        facts = self.attempt.facts() if self.attempt else None
        object.__setattr__(self, "shown", states.shown(states.Desired(self.run.desired), facts))

    @property
    def share(self) -> float | None:
        """The part of the planned steps that is done, 0 to 1."""
        if not self.run.total_steps or self.run.step is None:
            return None
        return min(1.0, self.run.step / self.run.total_steps)

    @property
    def total_tokens(self) -> float | None:
        """Tokens of the whole run, at the tokens a step has had so far."""
        if not (self.run.total_steps and self.run.step and self.run.tokens):
            return None
        return self.run.total_steps * self.run.tokens / self.run.step

    @property
    def eta_seconds(self) -> float | None:
        """What is left at the present rate; only while it moves."""
        if (
            self.shown.word != "running"
            or not self.run.tokens_per_second
            or self.total_tokens is None
        ):
            return None
        return max(0.0, self.total_tokens - (self.run.tokens or 0)) / self.run.tokens_per_second


def table(*, project: Project, filters: RunFilters) -> tuple[list[RunRow], str]:
    """Return the lines of one page and the cursor of the next."""
    found = listings.page_of(
        _filtered(project, filters), order=ORDERS.get(filters.order, "-pk"), cursor=filters.cursor
    )
    return rows_of(found.rows), found.next_cursor


def rows_of(runs: Iterable[Run]) -> list[RunRow]:
    """Return the lines of these runs, with one query for all newest attempts."""
    runs = list(runs)
    newest = Attempt.objects.filter(run__in=runs).order_by("run_id", "-number").distinct("run_id")
    by_run = {attempt.run_id: attempt for attempt in newest}
    return [RunRow(run, by_run.get(run.pk)) for run in runs]


def with_names(runs: "QuerySet[Run]") -> "QuerySet[Run]":
    """Fetch what a line names besides the run itself."""
    return runs.select_related("card", "config", "created_by")


def _filtered(project: Project, filters: RunFilters) -> "QuerySet[Run]":
    runs = with_names(Run.objects.filter(project=project))
    if filters.order == "activity":
        runs = runs.annotate(active_at=Coalesce("last_point_at", "desired_at", "created_at"))
    if filters.text:
        runs = runs.filter(_matching(filters.text))
    if filters.owner:
        runs = runs.filter(created_by__username=filters.owner)
    if filters.card_id:
        runs = runs.filter(card_id=filters.card_id)
    if filters.config_id:
        runs = runs.filter(config_id=filters.config_id)
    return in_state(runs, filters.state) if filters.state else runs


def _matching(text: str) -> Q:
    found = (
        Q(name__icontains=text)
        | Q(card__name__icontains=text)
        | Q(config__name__icontains=text)
        | Q(config__hash__startswith=f"blake3:{text.lower()}")
        | Q(created_by__username__icontains=text)
    )
    number = text.removeprefix("#")
    return found | Q(pk=int(number)) if number.isdecimal() and len(number) < 18 else found


def in_state(runs: "QuerySet[Run]", group: str) -> "QuerySet[Run]":
    """Keep the runs of one group: draft, active, failed, finished, stopped; none for any other word."""
    attempts = Attempt.objects.filter(run=OuterRef("pk"))
    if group == "draft":
        return runs.filter(~Exists(attempts))
    if group == "active":
        return runs.filter(Exists(attempts.exclude(state=states.State.ENDED)))
    newest = attempts.order_by("-number").values("outcome")[:1]
    outcomes = {"failed": _FAILED, "finished": ("finished",), "stopped": ("stopped",)}
    return runs.annotate(newest_outcome=Subquery(newest)).filter(
        newest_outcome__in=outcomes.get(group, ())
    )


def some(*, user: User, run_ids: Sequence[int]) -> list[RunRow]:
    """Return the lines of those of these runs that the person may see."""
    runs = Run.objects.filter(pk__in=run_ids, project__in=access.projects_of(user))
    return rows_of(with_names(runs).order_by("-pk"))
