"""The base checkpoint as one more variable between two runs: no field of their configs, but what they begin with."""

from dataclasses import dataclass, replace

from safehold.config import Change, Comparison, Factor

NAME = "base_checkpoint"
TITLE = "Base checkpoint"


@dataclass(frozen=True)
class BaseChange(Change):
    """The checkpoints whose weights the two begin with; None: it begins with none."""

    @property
    def growth(self) -> None:
        """A number of the registry is no quantity."""
        return None


def with_base(found: Comparison, old: int, new: int) -> Comparison:
    """Return what changes between two runs: their configs, and the base where it is another one.

    Args:
        found: What changes between their configs.
        old: The checkpoint whose weights the first begins with; 0: none.
        new: That of the second.
    """
    if old == new:
        return found
    change = BaseChange(NAME, old or None, new or None, "")
    factor = Factor(NAME, TITLE, (NAME,))
    return replace(found, changes=(*found.changes, change), factors=(*found.factors, factor))
