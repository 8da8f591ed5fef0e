"""Which base checkpoint the weights of a run go back to: its own, or that of the run whose state it took over."""

from collections.abc import Iterable, Mapping
from typing import Any

from runs import starts
from runs.models import Attempt, Card, Config, Run
from safehold.planning import read_kept


def of_card(card: Card | None) -> int:
    """Return the number of the checkpoint that a card goes on from; 0 where it names none."""
    return read_kept(card.data).base_checkpoint if card else 0


def of_run(run: Run) -> int:
    """Return the base of one run, see `of_runs`."""
    return of_runs([run])[run.pk]


def of_runs(runs: Iterable[Run]) -> dict[int, int]:
    """Return by run the base that it begins with, 0: none; a run that was never launched has that of its card.

    A fork has the base of the run whose state it took over: nothing else came between. All its attempts have one.
    """
    asked = {run.pk: run for run in runs}
    planned = _planned(asked.values())
    known = _with_origins(asked)
    return {
        pk: of_card(run.card) if pk in planned else _of(run, known) for pk, run in asked.items()
    }


def of_start(start: Mapping[str, Any]) -> int:
    """Return the base of what begins so, see `runs.starts`."""
    if starts.takes(start) != starts.STATE:
        return starts.base_of(start)
    origin = Run.objects.filter(pk=start["run"]).first()
    return of_run(origin) if origin else 0


def before(*, config: Config, parent: Run | None) -> int:
    """Return the base that a run is held against: of the run it is forked from, else of the config before its own.

    That is the base of the newest run of that config which was launched; without any the one that its card names.
    """
    if parent is not None:
        return of_run(parent)
    followed = config.parent
    if followed is None:
        return 0
    newest = followed.runs.filter(attempts__number=1).select_related("card").order_by("-pk").first()
    return of_run(newest) if newest else of_card(followed.card)


def _planned(runs: Iterable[Run]) -> set[int]:
    named = {run.pk for run in runs if not run.start_checkpoint and of_card(run.card)}
    if not named:
        return named
    launched = Attempt.objects.filter(run__in=named).values_list("run_id", flat=True)
    return named - set(launched)


def _with_origins(runs: Mapping[int, Run]) -> dict[int, Run]:
    known = dict(runs)
    wanted = set(map(_origin, runs.values())) - known.keys() - {0}
    while wanted:
        found = Run.objects.in_bulk(wanted)
        known |= found
        wanted = set(map(_origin, found.values())) - known.keys() - {0}
    return known


def _origin(run: Run) -> int:
    """Return the run whose state it took over; 0: of none."""
    start = run.start_checkpoint
    return int(start["run"]) if starts.takes(start) == starts.STATE else 0


def _of(run: Run, known: Mapping[int, Run]) -> int:
    seen = {run.pk}
    while (origin := known.get(_origin(run))) is not None and origin.pk not in seen:
        seen.add(origin.pk)
        run = origin
    return starts.base_of(run.start_checkpoint)
