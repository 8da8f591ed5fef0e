"""What is flagged on the curves of a run: its checkpoints with their newest state, and alerts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from runs.models import Event, Run

# A chart wider than a thousand pixels cannot show more; the newest count.
MOST_EVENTS = 2000
_KINDS = ("checkpoint", "alert", "message")
_TONES = {"stable": "good", "verified": "good", "damaged": "bad", "failed": "bad"}
_LOUD = {"warning": "wait", "warn": "wait", "error": "bad", "critical": "bad"}


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One flag.

    Attributes:
        kind: `checkpoint` or `alert`.
        attempt: Number of the attempt; None where it is not known.
        text: What it is, in one sentence.
        tone: `good`, `wait` or `bad`.
        href: Where more is said; empty: nowhere.
    """

    kind: str
    step: int
    attempt: int | None
    text: str
    tone: str
    href: str = ""


def flags_of(run: Run) -> list[Flag]:
    """Return the flags of a run by step."""
    found = Event.objects.filter(run=run, kind__in=_KINDS).order_by("-pk")[:MOST_EVENTS]
    rows = found.values_list("kind", "data", "message", "attempt__number")
    return flags_among(rows)


def flags_among(rows: Iterable[tuple[str, dict[str, Any], str, int | None]]) -> list[Flag]:
    """Return the flags that events mean, the newest event first; the newest word on a checkpoint counts."""
    flags: dict[object, Flag] = {}
    for number, (kind, data, message, attempt) in enumerate(rows):
        step = data.get("step")
        if not isinstance(step, int) or isinstance(step, bool):
            continue
        if kind == "checkpoint":
            flags.setdefault(
                ("checkpoint", data.get("id", step)), _checkpoint(data, message, attempt)
            )
        elif tone := _tone_of(kind, data):
            flags[number] = Flag(kind="alert", step=step, attempt=attempt, text=message, tone=tone)
    return sorted(flags.values(), key=lambda flag: flag.step)


def _checkpoint(data: dict[str, Any], message: str, attempt: int | None) -> Flag:
    number = data.get("id")
    return Flag(
        kind="checkpoint", step=data["step"], attempt=attempt, text=message,
        tone=_TONES.get(str(data.get("state")), "wait"),
        href=reverse("checkpoints:detail", args=[number]) if isinstance(number, int) else "",
    )  # fmt: skip


def _tone_of(kind: str, data: dict[str, Any]) -> str:
    if kind == "alert":
        return _LOUD.get(str(data.get("level") or data.get("severity")), "bad")
    return _LOUD.get(str(data.get("level")), "")
