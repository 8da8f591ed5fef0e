"""Finding things by what people remember of them: a part of a name, a tag, a digest, a number."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse

from checkpoints.models import Checkpoint
from controlplane.common.models import Project
from runs import run_table
from runs.models import Card, Config, Run

# Of each kind; the lists themselves have all.
MOST_HITS = 10
_MOST_RUNS = 100
_DIGEST = "blake3:"
# Fewer characters of a digest stand for too many.
_LEAST_DIGEST = 4


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One thing that was found.

    Attributes:
        kind: `run`, `card`, `config` or `checkpoint`.
        state: Word of its state; empty where it has none.
        note: What tells it from others of the same name.
    """

    kind: str
    id: int
    name: str
    project: str
    href: str
    state: str = ""
    note: str = ""


@dataclass(frozen=True)
class Found:
    """What was found of one kind; `has_more`: the list of that kind has others."""

    kind: str
    hits: list[Hit]
    has_more: bool = False


def search(text: str, projects: "QuerySet[Project]") -> list[Found]:
    """Return what matches in these projects, by kind, newest first; nothing for an empty text."""
    text = text.replace("\0", "").strip()
    if not text:
        return []
    finders = (_runs, _cards, _configs, _checkpoints)
    return [found for find in finders if (found := find(text, projects)).hits]


def _runs(text: str, projects: "QuerySet[Project]") -> Found:
    runs = run_table.with_names(Run.objects.filter(project__in=projects)).select_related("project")
    newest = runs.filter(run_table.matching(text)).order_by("-pk")[: MOST_HITS + 1]
    return _found(
        "run",
        (
            Hit(
                kind="run", id=row.run.pk, name=row.run.name, project=row.run.project.name, state=row.shown.word,
                href=reverse("runs:run_detail", args=[row.run.pk]), note=" ".join(row.run.tags),
            )
            for row in run_table.rows_of(newest)
        ),
    )  # fmt: skip


def _cards(text: str, projects: "QuerySet[Project]") -> Found:
    wanted = Q(name__icontains=text) | Q(question__icontains=text) | _numbered(text)
    cards = Card.objects.filter(wanted, project__in=projects).select_related("project")
    return _found(
        "card",
        (
            Hit(
                kind="card", id=card.pk, name=card.name, project=card.project.name,
                href=reverse("runs:card_detail", args=[card.pk]), note=card.question[:120],
            )
            for card in cards.order_by("-pk")[: MOST_HITS + 1]
        ),
    )  # fmt: skip


def _configs(text: str, projects: "QuerySet[Project]") -> Found:
    wanted = Q(name__icontains=text) | _digested("hash", text) | _numbered(text)
    configs = Config.objects.filter(wanted, project__in=projects).select_related("project")
    newest = configs.defer("document").order_by("-pk")[: MOST_HITS + 1]
    return _found(
        "config",
        (
            Hit(
                kind="config", id=config.pk, name=config.name, project=config.project.name,
                href=reverse("runs:config_detail", args=[config.pk]), note=config.short_hash,
            )
            for config in newest
        ),
    )  # fmt: skip


def _checkpoints(text: str, projects: "QuerySet[Project]") -> Found:
    runs = Run.objects.filter(run_table.matching(text), project__in=projects).order_by("-pk")
    # A list of numbers, so that the checkpoints are read by their index.
    wanted = Q(run__in=list(runs.values_list("pk", flat=True)[:_MOST_RUNS])) | _numbered(text)
    for column in ("config_hash", "data_version", "tokenizer_digest"):
        wanted |= _digested(column, text)
    rows = Checkpoint.objects.without_manifest().filter(wanted, run__project__in=projects)
    newest = rows.select_related("run__project").order_by("-pk")[: MOST_HITS + 1]
    return _found(
        "checkpoint",
        (
            Hit(
                kind="checkpoint", id=one.pk, name=f"{one.run.name} · {one.step:,}", project=one.run.project.name,
                href=reverse("checkpoints:detail", args=[one.pk]), state=str(one.state), note=one.path,
            )
            for one in newest
        ),
    )  # fmt: skip


def _found(kind: str, hits: Iterable[Hit]) -> Found:
    rows = list(hits)
    return Found(kind, rows[:MOST_HITS], len(rows) > MOST_HITS)


def _numbered(text: str) -> Q:
    number = text.removeprefix("#")
    return Q(pk=int(number)) if number.isdecimal() and len(number) < 18 else Q(pk__in=[])


def _digested(column: str, text: str) -> Q:
    digits = text.lower().removeprefix(_DIGEST)
    is_digest = len(digits) >= _LEAST_DIGEST and all(mark in "0123456789abcdef" for mark in digits)
    return Q(**{f"{column}__startswith": _DIGEST + digits}) if is_digest else Q(pk__in=[])
