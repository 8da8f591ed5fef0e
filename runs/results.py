"""What the runs of a card reached, held against what the card asks for (CARD-6)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from runs import evaluations, states
from runs.models import Card, CardChange, Run
from runs.run_table import RunRow, rows_of
from safehold.planning import Acceptance, read_kept
from safehold.planning.acceptance import Judged, Judgement, judge, names_of, verdict


@dataclass(frozen=True)
class Result:
    """One run with its judgement.

    Attributes:
        is_moved: The acceptance was changed after the run was launched: what it was held against is not what was
            agreed on at its start.
    """

    row: RunRow
    judged: tuple[Judged, ...]
    verdict: Judgement
    is_moved: bool

    @property
    def is_final(self) -> bool:
        """Whether the verdict stands: the run has finished, so nothing more will be measured."""
        attempt = self.row.attempt
        return attempt is not None and attempt.outcome == states.Outcome.FINISHED

    @property
    def word(self) -> str:
        """Return the verdict as one word for a chip; before the end it is only how things stand."""
        if self.verdict == "not measured" and not self.is_final:
            return "undecided"
        return self.verdict if self.is_final else f"{self.verdict} so far"


def results_of(card: Card, runs: Iterable[Run]) -> list[Result]:
    """Return the judgement of each of these runs of a card, with a number of queries that does not grow."""
    rows = rows_of(runs)
    wanted = read_kept(card.data).acceptance
    names = names_wanted(wanted)
    measured = evaluations.newest([row.run for row in rows], names)
    moved_at = _moved_at(card)
    found = []
    for row in rows:
        judged = judge(wanted, measured.get(row.run.pk, {}))
        is_moved = moved_at is not None and _launched_before(row, moved_at)
        found.append(Result(row, judged, verdict(judged), is_moved))
    return found


def result_of(run: Run) -> Result | None:
    """Return the judgement of one run, or None where no card asks anything of it."""
    if run.card is None or not run.card.data.get("acceptance"):
        return None
    return results_of(run.card, [run])[0]


def names_wanted(acceptances: Sequence[Acceptance]) -> list[str]:
    """Return every metric under which one of them may have been logged."""
    return list(dict.fromkeys(name for one in acceptances for name in names_of(one)))


def _moved_at(card: Card) -> datetime | None:
    moves = CardChange.objects.filter(card=card, field__startswith="acceptance").order_by("-pk")
    return moves.values_list("at", flat=True).first()


def _launched_before(row: RunRow, moment: datetime) -> bool:
    return row.attempt is not None and row.attempt.requested_at < moment
