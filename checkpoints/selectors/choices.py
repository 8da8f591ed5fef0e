"""Checkpoints that a card may go on from."""

from django.db.models import Q, QuerySet

from checkpoints.models import Checkpoint
from controlplane.common.cursors import LARGEST_ID
from controlplane.common.models import Project

# What a list to choose from shows; whoever looks for another one types a part of its name.
MOST_CHOICES = 20


def base_choices(project: Project, text: str = "") -> list[Checkpoint]:
    """Return the newest recovery points of a project that fit a text: run, number, step, state or tokenizer."""
    rows = _rows(project)
    for word in text.replace("\0", "").split()[:8]:
        rows = rows.filter(_fits(word))
    return list(rows.order_by("-pk")[:MOST_CHOICES])


def base_choice(project: Project, number: str) -> Checkpoint | None:
    """Return the recovery point with this number, if the project has it."""
    found = _number(number)
    return _rows(project).filter(pk=found).first() if found else None


def _rows(project: Project) -> QuerySet[Checkpoint]:
    rows = Checkpoint.objects.without_manifest().usable().filter(run__project=project)
    return rows.select_related("run__config", "attempt")


def _fits(word: str) -> Q:
    found = (
        Q(run__name__icontains=word) | Q(state=word.lower()) | Q(tokenizer_digest__contains=word)
    )
    number = _number(word)
    return found | Q(pk=number) | Q(step=number) if number else found


def _number(text: str) -> int:
    digits = text.strip().lstrip("#").replace(",", "")
    number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
    return number if number <= LARGEST_ID else 0
