"""How many variables of an experiment changed between two configs, and which changes merely follow from another.

A change is a variable unless it is set apart (a name, a place, how often is saved or logged, a field without effect)
or follows from another one: heads from the hidden size at the same width of a head, accumulation and step counts from
the batch, the minimum rate from the peak, and the like. Everything is said with its reason, so that a person can judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safehold.config.diff import Change, diff
from safehold.config.fields import field_at
from safehold.config.following import Follows, leaders
from safehold.config.schema import RunConfig
from safehold.config.set_apart import why_apart
from safehold.config.sides import Sides


@dataclass(frozen=True)
class Factor:
    """One variable that changed.

    Attributes:
        name: Dotted name of the field that was changed, or of the table.
        title: As people call it.
        paths: The changes that make it up.
        following: The changes that follow from it.
    """

    name: str
    title: str
    paths: tuple[str, ...]
    following: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Two configs, field by field and variable by variable.

    Attributes:
        changes: Every field that differs.
        factors: The variables that changed.
        notes: Path of a change that is no variable -> why.
    """

    changes: tuple[Change, ...]
    factors: tuple[Factor, ...]
    notes: Mapping[str, str]

    @property
    def num_factors(self) -> int:
        """How many variables changed."""
        return len(self.factors)

    @property
    def more_than_one(self) -> bool:
        """Whether a result cannot be laid to a single variable."""
        return self.num_factors > 1

    @property
    def verdict(self) -> str:
        """The sentence that lists and reports carry."""
        if not self.factors:
            return "no variable changed" if self.changes else "nothing differs"
        names = ", ".join(factor.title for factor in self.factors)
        count = "more than one variable changed" if self.more_than_one else "one variable changed"
        return f"{count}: {names}"


def compare(old: RunConfig | Mapping[str, Any], new: RunConfig | Mapping[str, Any]) -> Comparison:
    """Return what changed from `old` to `new`, and how many variables that is."""
    changes = diff(old, new)
    sides = Sides.of(old, new, {change.path for change in changes})
    notes = {path: why for path in sides.changed if (why := why_apart(path, sides))}
    followed = leaders(sides, notes)
    notes |= {path: one.why for path, one in followed.items()}
    own = [change for change in changes if change.path not in notes]
    return Comparison(tuple(changes), tuple(_factors(own, followed)), notes)


def _factors(changes: list[Change], followed: Mapping[str, Follows]) -> list[Factor]:
    groups: dict[str, list[str]] = {}
    for change in changes:
        for name in _names(change):
            groups.setdefault(name, []).append(change.path)
    return [
        Factor(name, _title(name), tuple(paths), _following(paths, followed))
        for name, paths in groups.items()
    ]


def _names(change: Change) -> list[str]:
    """Return the variables that a change is of: a table of shares is one, each of the betas is one."""
    if change.path == "optimizer.betas":
        pairs = zip(change.old or (), change.new or (), strict=False)
        return [f"optimizer.beta{n}" for n, (old, new) in enumerate(pairs, start=1) if old != new]
    for table in ("data.mix", "kubernetes.env", "kubernetes.secret_env"):
        if change.path.startswith(f"{table}."):
            return [table]
    return [change.path]


def _title(name: str) -> str:
    if name.startswith("optimizer.beta"):
        return f"β{name[-1]}"
    spec = field_at(name)
    return spec.title if spec else name


def _following(paths: list[str], followed: Mapping[str, Follows]) -> tuple[str, ...]:
    """Return what follows from these, directly or through one another."""
    found: list[str] = []
    waiting = list(paths)
    while waiting:
        leader = waiting.pop()
        several = [path for path, one in followed.items() if one.leader == leader]
        found += several
        waiting += several
    return tuple(sorted(found))
