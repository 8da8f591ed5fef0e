"""The parts of a drawn lineage, in units of one pixel."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from checkpoints.models import Checkpoint
from runs.models import Attempt


@dataclass(frozen=True)
class Mark:
    """One checkpoint in the drawing."""

    checkpoint: Checkpoint
    relation: str
    x: int
    y: int

    @property
    def text_y(self) -> int:
        """Where its step is written."""
        return self.y + 25

    @property
    def title(self) -> str:
        """What a pointer that rests on it is told."""
        words = _("step %(step)s of %(run)s: %(state)s") % {
            "step": f"{self.checkpoint.step:,}",
            "run": self.checkpoint.run.name,
            "state": self.checkpoint.get_state_display(),
        }
        return words


@dataclass(frozen=True)
class Gap:
    """So many saves that are left out here."""

    count: int
    x: int
    y: int

    @property
    def text_y(self) -> int:
        """Where the number is written."""
        return self.y - 8


@dataclass(frozen=True)
class Lane:
    """One attempt: a line from where it began to its last save."""

    attempt: Attempt
    y: int
    x1: int
    x2: int
    data_version: str

    @property
    def text_y(self) -> int:
        """Where the name of the run is written."""
        return self.y - 34

    @property
    def small_y(self) -> int:
        """Where attempt, config and data are written."""
        return self.y - 19

    @property
    def data_short(self) -> str:
        """The part of the data version that people read."""
        return self.data_version.rpartition(":")[2][:8]


@dataclass(frozen=True)
class Branch:
    """From a checkpoint to the lane of an attempt that began from it."""

    path: str
    is_fork: bool
    takes_weights: bool = False


@dataclass(frozen=True)
class Drawing:
    """The whole picture, in units of one pixel."""

    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    gaps: tuple[Gap, ...]
    branches: tuple[Branch, ...]
    width: int
    height: int
