"""What a checkpoint is made of, and what was made from it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q

from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.states import State
from controlplane.common.models import Project
from runs.models import Attempt

# A drawing or an answer with more is of no use to anybody; it says that it was cut. A guess.
MOST_CHECKPOINTS = 5000
# A save that never was made nothing, and nothing was made of it.
_NOT_SAVED = (State.WRITING, State.FAILED)

_UP = """
WITH RECURSIVE line (id, parent_id) AS (
    SELECT id, parent_id FROM checkpoints_checkpoint WHERE id = %s
    UNION
    SELECT above.id, above.parent_id FROM checkpoints_checkpoint above JOIN line ON above.id = line.parent_id
) SELECT id FROM line WHERE id <> %s LIMIT %s
"""
_DOWN = """
WITH RECURSIVE line (id) AS (
    SELECT id FROM checkpoints_checkpoint WHERE id = %s
    UNION
    SELECT below.id FROM checkpoints_checkpoint below JOIN line ON below.parent_id = line.id
) SELECT id FROM line WHERE id <> %s LIMIT %s
"""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """The ancestors and descendants of one checkpoint, with the attempts between them.

    Attributes:
        current: The checkpoint asked about.
        checkpoints: It and all others, by step; manifests are not loaded.
        attempts: Those that saved one of them, or began from one; with run and config.
        starts: Which of these attempts began from which of these checkpoints.
        num_hidden: Checkpoints of projects that the person may not see.
        is_cut: There are more than `MOST_CHECKPOINTS`.
    """

    current: Checkpoint
    checkpoints: tuple[Checkpoint, ...]
    attempts: tuple[Attempt, ...]
    starts: tuple[StartedFrom, ...]
    ancestors: frozenset[int]
    descendants: frozenset[int]
    num_hidden: int = 0
    is_cut: bool = False

    def took_weights(self, checkpoint: Checkpoint) -> bool:
        """Say whether a checkpoint's attempt took over the weights alone of what the checkpoint descends from."""
        return any(
            start.attempt_id == checkpoint.attempt_id
            and start.checkpoint_id == checkpoint.parent_id
            and start.takes == start.Takes.WEIGHTS
            for start in self.starts
        )

    @property
    def began_here(self) -> list[tuple[Attempt, StartedFrom]]:
        """Return the attempts that began from the current checkpoint, in their order."""
        here = {one.attempt_id: one for one in self.starts if one.checkpoint_id == self.current.pk}
        return [(attempt, here[attempt.pk]) for attempt in self.attempts if attempt.pk in here]

    def relation(self, checkpoint_id: int) -> str:
        """Return what a checkpoint is to the current one."""
        if checkpoint_id == self.current.pk:
            return "self"
        return "ancestor" if checkpoint_id in self.ancestors else "descendant"


def lineage_of(checkpoint: Checkpoint, *, projects: Iterable[Project]) -> Lineage:
    """Read the lineage of a checkpoint, as far as it lies in these projects."""
    above, below = _walk(_UP, checkpoint.pk), _walk(_DOWN, checkpoint.pk)
    wanted = {checkpoint.pk, *above, *below}
    rows = Checkpoint.objects.without_manifest().filter(pk__in=wanted)
    rows = rows.exclude(state__in=_NOT_SAVED, pk__in=wanted - {checkpoint.pk})
    visible = rows.filter(run__project__in=projects).select_related("run", "attempt")
    found = tuple(visible.order_by("step", "pk"))
    ids = {item.pk for item in found}
    starts = _starts(found, ids - above, projects)
    return Lineage(
        current=checkpoint,
        checkpoints=found,
        attempts=_attempts(
            {item.attempt_id for item in found} | {item.attempt_id for item in starts}
        ),
        starts=starts,
        ancestors=frozenset(above & ids),
        descendants=frozenset(below & ids),
        # Asked by itself: a save that became complete since the first look is not hidden.
        num_hidden=rows.exclude(run__project__in=projects).count(),
        is_cut=max(len(above), len(below)) >= MOST_CHECKPOINTS,
    )


def _starts(
    found: Iterable[Checkpoint], made: set[int], projects: Iterable[Project]
) -> tuple[StartedFrom, ...]:
    """Return the starts on the line: of an ancestor's other children only those that led here."""
    rows = StartedFrom.objects.filter(attempt__run__project__in=projects)
    on_line = Q(
        attempt__in={item.attempt_id for item in found},
        checkpoint__in={item.pk for item in found},
    )
    return tuple(rows.filter(on_line | Q(checkpoint__in=made)).order_by("pk"))


def _walk(statement: str, checkpoint_id: int) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [checkpoint_id, checkpoint_id, MOST_CHECKPOINTS])
        return {row[0] for row in cursor.fetchall()}


def _attempts(ids: set[int]) -> tuple[Attempt, ...]:
    rows = Attempt.objects.filter(pk__in=ids).select_related("run__config")
    return tuple(rows.order_by("requested_at", "pk"))
