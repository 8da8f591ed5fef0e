"""The table of runs: which rows a filter means, and what one line says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from controlplane.common import access
from controlplane.common.models import Project, User
from runs import starts, states
from runs.models import Attempt, Run
from runs.run_orders import FAILED, ordered

# A menu with more is searched by typing instead.
MOST_CHOICES = 200
# To look at all of 10,000 runs would take longer than the list itself.
LABELLED_RUNS = 500


@dataclass(frozen=True, kw_only=True)
class RunFilters:
    """What the address of the table asks for.

    Attributes:
        weights_of: A run; those that began with the weights of one of its checkpoints.
        shelf: Empty: neither archived nor deleted runs; `archived`: those in the archive; `all`: both.
    """

    text: str = ""
    state: str = ""
    owner: str = ""
    group: str = ""
    tag: str = ""
    shelf: str = ""
    card_id: int | None = None
    config_id: int | None = None
    parent_id: int | None = None
    weights_of: int | None = None
    order: str = "newest"
    cursor: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Whether something is left out that a plain list shows."""
        asked = (self.text, self.state, self.owner, self.group, self.tag, self.shelf)
        return any(asked) or any((self.card_id, self.config_id, self.parent_id, self.weights_of))


# What somebody on call looks for.
IN_TROUBLE = frozenset({"failed", "could_not_start", "lost", "contact_lost", "taken_away"})


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
    def trouble(self) -> str:
        """Why a run needs somebody, told in the list already; empty for the others."""
        return self.shown.why if self.shown.word in IN_TROUBLE else ""

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
    def tokens_per_second(self) -> float | None:
        """The present rate; none of a run that does not train: its last one says nothing of now."""
        return self.run.tokens_per_second if self.shown.word == "running" else None

    @property
    def eta_seconds(self) -> float | None:
        """What is left at the present rate; only while it moves."""
        if not self.tokens_per_second or self.total_tokens is None:
            return None
        return max(0.0, self.total_tokens - (self.run.tokens or 0)) / self.tokens_per_second


def table(*, project: Project, filters: RunFilters) -> tuple[list[RunRow], str]:
    """Return the lines of one page and the cursor of the next."""
    runs = filtered(with_names(Run.objects.filter(project=project)), filters)
    found = ordered(runs, order=filters.order, cursor=filters.cursor)
    return rows_of(found.rows), found.next_cursor


def rows_of(runs: Iterable[Run]) -> list[RunRow]:
    """Return the lines of these runs, with one query for all newest attempts."""
    runs = list(runs)
    newest = Attempt.objects.filter(run__in=runs).order_by("run_id", "-number").distinct("run_id")
    by_run = {attempt.run_id: attempt for attempt in newest}
    return [RunRow(run, by_run.get(run.pk)) for run in runs]


def with_names(runs: "QuerySet[Run]") -> "QuerySet[Run]":
    """Fetch what a line names besides the run itself."""
    named = runs.select_related("card", "config", "created_by")
    return named.defer("config__document", "card__data")


def filtered(runs: "QuerySet[Run]", filters: RunFilters) -> "QuerySet[Run]":
    """Keep the runs that the filters mean."""
    plain = {
        "created_by__username": filters.owner, "group": filters.group, "card_id": filters.card_id,
        "config_id": filters.config_id, "parent_id": filters.parent_id,
    }  # fmt: skip
    runs = runs.filter(**{column: value for column, value in plain.items() if value})
    if filters.weights_of:
        wanted = {"run": filters.weights_of, "takes": starts.WEIGHTS}
        runs = runs.filter(start_checkpoint__contains=wanted)
    if filters.tag:
        runs = runs.filter(tags__contains=[filters.tag])
    if filters.text:
        runs = runs.filter(matching(filters.text))
    runs = _on_shelf(runs, filters.shelf)
    return in_state(runs, filters.state) if filters.state else runs


def groups_and_tags(project: Project) -> tuple[list[str], list[str]]:
    """Return the groups and tags of the newest runs of a project, by name: what the filters offer."""
    shown = _on_shelf(Run.objects.filter(project=project), "").order_by("-pk")
    newest = shown.values_list("group", "tags")[:LABELLED_RUNS]
    groups, tags = set(), set()
    for group, of_run in newest:
        groups.add(group)
        tags.update(of_run)
    return sorted(groups - {""})[:MOST_CHOICES], sorted(tags)[:MOST_CHOICES]


def _on_shelf(runs: "QuerySet[Run]", shelf: str) -> "QuerySet[Run]":
    if shelf == "all":
        return runs
    if shelf == "archived":
        return runs.filter(archived_at__isnull=False)
    return runs.filter(archived_at__isnull=True, deleted_at__isnull=True)


def matching(text: str) -> Q:
    """Return what a typed text means of a run: parts of names, a tag, the beginning of a digest, a number."""
    found = (
        Q(name__icontains=text)
        | Q(card__name__icontains=text)
        | Q(config__name__icontains=text)
        | Q(config__hash__startswith=f"blake3:{text.lower()}")
        | Q(created_by__username__icontains=text)
        | Q(group__icontains=text)
        | Q(tags__contains=[text.removeprefix("#")])
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
    outcomes = {"failed": FAILED, "finished": ("finished",), "stopped": ("stopped",)}
    return runs.annotate(newest_outcome=Subquery(newest)).filter(
        newest_outcome__in=outcomes.get(group, ())
    )


def some(*, user: User, run_ids: Sequence[int]) -> list[RunRow]:
    """Return the lines of those of these runs that the person may see."""
    runs = Run.objects.filter(pk__in=run_ids, project__in=access.projects_of(user))
    return rows_of(with_names(runs).order_by("-pk"))
