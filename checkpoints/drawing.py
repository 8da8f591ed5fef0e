"""Where the parts of a lineage stand in its drawing: a lane an attempt, a column a step.

Pure over what the selector read. Long chains of saves that tell nothing are drawn as one mark.
"""

from collections import defaultdict
from collections.abc import Iterable

from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.picture import Branch, Drawing, Gap, Lane, Mark
from checkpoints.selectors.lineage import Lineage
from checkpoints.states import State

COLUMN, LANE = 72, 86
LEFT, TOP = 16, 54
# What a label over a lane takes at most; a branch leaves its checkpoint so far to the right, beside the step.
LABEL, ELBOW, BEND = 270, 34, 10
# Of a chain longer than this only its ends and what matters are drawn. A guess: what fits a screen.
LONGEST_CHAIN = 6


def draw(lineage: Lineage) -> Drawing:
    """Place everything; lanes follow the order in which the attempts were requested."""
    began = {start.attempt_id: start.checkpoint_id for start in lineage.starts}
    placed = _Places(lineage)
    kept = sorted(_kept(lineage, set(began.values())), key=placed.key)
    columns = _columns({placed.key(item) for item in kept})
    rows = {attempt.pk: TOP + LANE * i for i, attempt in enumerate(lineage.attempts)}
    marks = {
        item.pk: Mark(
            item, lineage.relation(item.pk), columns[placed.key(item)], rows[item.attempt_id]
        )
        for item in kept
    }
    lanes = _lanes(lineage, marks, began, rows)
    return Drawing(
        lanes=lanes,
        marks=tuple(marks.values()),
        gaps=tuple(_gaps(lineage, marks)),
        branches=tuple(_branches(lanes, marks, lineage.starts)),
        width=max(
            max(columns.values(), default=LEFT) + COLUMN, *(lane.x1 + LABEL for lane in lanes)
        ),
        height=TOP + LANE * len(rows) - LANE // 2,
    )


def _kept(lineage: Lineage, starts: set[int]) -> list[Checkpoint]:
    chains: dict[int, list[Checkpoint]] = defaultdict(list)
    for item in lineage.checkpoints:
        chains[item.attempt_id].append(item)
    kept: list[Checkpoint] = []
    for chain in chains.values():
        if len(chain) <= LONGEST_CHAIN:
            kept += chain
            continue
        current = lineage.current.pk
        kept += [
            item
            for item in chain
            if item in (chain[0], chain[-1])
            or item.pk in starts
            or item.pk == current
            or item.state == State.DAMAGED
            or item.is_pinned
        ]
    return kept


class _Places:
    """How far along each checkpoint is: what took weights over counts its steps from 0, but was made after them."""

    def __init__(self, lineage: Lineage) -> None:
        origins = {item.pk: item for item in lineage.checkpoints}
        starts = {start.attempt_id: start for start in lineage.starts}
        self._before: dict[int, int] = {}
        # In their order: an origin's attempt was requested before those that began from it.
        for attempt in lineage.attempts:
            start = starts.get(attempt.pk)
            if start is None or (origin := origins.get(start.checkpoint_id)) is None:
                continue
            taken = origin.step if start.takes == start.Takes.WEIGHTS else 0
            self._before[attempt.pk] = self._before.get(origin.attempt_id, 0) + taken

    def key(self, item: Checkpoint) -> tuple[int, str]:
        return self._before.get(item.attempt_id, 0) + item.step, item.kind


def _columns(keys: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int]:
    return {key: LEFT + COLUMN // 2 + COLUMN * i for i, key in enumerate(sorted(keys))}


def _lanes(
    lineage: Lineage, marks: dict[int, Mark], began: dict[int, int], rows: dict[int, int]
) -> tuple[Lane, ...]:
    saved: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks.values():
        saved[mark.checkpoint.attempt_id].append(mark)
    lanes = []
    for attempt in lineage.attempts:
        origin = marks.get(began.get(attempt.pk, 0))
        x1 = origin.x + ELBOW + BEND if origin else LEFT
        own = saved[attempt.pk]
        lanes.append(
            Lane(
                attempt=attempt,
                y=rows[attempt.pk],
                x1=x1,
                x2=max([x1 + COLUMN // 4, *(mark.x for mark in own)]),
                data_version=next((m.checkpoint.data_version for m in own), ""),
            )
        )
    return tuple(lanes)


def _gaps(lineage: Lineage, marks: dict[int, Mark]) -> Iterable[Gap]:
    before: dict[int, tuple[Mark | None, int]] = {}
    for item in lineage.checkpoints:
        last, count = before.get(item.attempt_id, (None, 0))
        mark = marks.get(item.pk)
        if mark is None:
            before[item.attempt_id] = (last, count + 1)
            continue
        if count and last:
            yield Gap(count, (last.x + mark.x) // 2, mark.y)
        before[item.attempt_id] = (mark, 0)


def _branches(
    lanes: Iterable[Lane], marks: dict[int, Mark], starts: Iterable[StartedFrom]
) -> Iterable[Branch]:
    began = {start.attempt_id: start for start in starts}
    for lane in lanes:
        start = began.get(lane.attempt.pk)
        origin = marks.get(start.checkpoint_id) if start else None
        if start is None or origin is None:
            continue
        path = (
            f"M{origin.x} {origin.y} h{ELBOW - BEND} q{BEND} 0 {BEND} {BEND} V{lane.y - BEND} "
            f"q0 {BEND} {BEND} {BEND}"
        )
        takes_weights = start.takes == start.Takes.WEIGHTS
        is_fork = origin.checkpoint.run_id != lane.attempt.run_id
        yield Branch(path, is_fork=is_fork and not takes_weights, takes_weights=takes_weights)
