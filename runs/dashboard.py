"""Which metrics of a run stand in which panel: six that every run has, the rest by the prefix of its names."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# A panel with more lines than this cannot be read; the rest stay in the groups below.
MAX_LINES = 6


@dataclass(frozen=True)
class Panel:
    """One chart.

    Attributes:
        title: What stands over it.
        names: Metrics drawn in it, the first one the strongest.
        unit: `bytes`, `share`, or a text after the title.
    """

    title: str | Promise
    names: tuple[str, ...]
    unit: str = ""


@dataclass(frozen=True)
class Group:
    """Metrics with the same first part of the name."""

    prefix: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Dashboard:
    """What the live page draws."""

    panels: tuple[Panel, ...]
    groups: tuple[Group, ...]


# METRIC-5. A pattern matches a whole name; the order is that of the lines.
_SIX: tuple[tuple[Promise, str, tuple[str, ...]], ...] = (
    (_("Loss"), "", (r"train/loss", r"(val|valid|validation|eval)/loss", r"loss")),
    (_("Gradient norm"), "", (r"(train/)?grad_norm(/global|/total)?", r"grad/norm")),
    (_("Learning rate"), "", (r"(train/)?lr", r"(train/)?learning_rate")),
    (_("Throughput"), "tokens/s", (r"(\w+/)?tokens_per_s(ec(ond)?)?", r"throughput")),
    (_("MFU"), "share", (r"(\w+/)?mfu",)),
    (_("Memory"), "bytes", (r"(\w+/)?memory(_allocated|/allocated)(_bytes)?", r"(\w+/)?memory(_reserved|/reserved)(_bytes)?",
                            r"(\w+/)?memory(_peak|/peak)(_bytes)?", r"(\w+/)?memory(_bytes|/\w+|_\w+)?")),
)  # fmt: skip


def dashboard(names: Iterable[str]) -> Dashboard:
    """Return the six panels, empty ones too, and all other metrics by prefix."""
    left = sorted(set(names))
    panels = []
    for title, unit, patterns in _SIX:
        chosen = _matching(left, patterns)[:MAX_LINES]
        left = [name for name in left if name not in chosen]
        panels.append(Panel(title, tuple(chosen), unit))
    return Dashboard(tuple(panels), _groups(left))


def _matching(names: list[str], patterns: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        found += [name for name in names if re.fullmatch(pattern, name) and name not in found]
    return found


def _groups(names: list[str]) -> tuple[Group, ...]:
    by_prefix: dict[str, list[Panel]] = defaultdict(list)
    for name in names:
        prefix, slash, rest = name.partition("/")
        by_prefix[prefix if slash else ""].append(Panel(rest or name, (name,), _unit(name)))
    return tuple(Group(prefix, tuple(panels)) for prefix, panels in sorted(by_prefix.items()))


def _unit(name: str) -> str:
    return "bytes" if name.endswith("_bytes") else "share" if name.endswith("_share") else ""
