"""Several runs beside each other: what their configs differ in, what their metrics came to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import pgettext

from controlplane.common import access
from controlplane.common.models import User
from runs import dashboard, run_table
from runs.dashboard import Dashboard, Panel
from runs.metricstore import comparing
from runs.metricstore.comparing import Summary
from runs.models import Run, Series
from runs.run_table import RunRow
from runs.services import base_lines, changes
from safehold import config as run_config

# What a page can show at once, and the server answer within a second.
MOST_RUNS = 100
# Six panels and the validation loss beside the training loss; the rest can be asked for.
MOST_SUMMED = 12


@dataclass(frozen=True)
class Difference:
    """One run against the first: field by field of their configs, and variable by variable."""

    row: RunRow
    found: run_config.Comparison

    @property
    def titles(self) -> list[str]:
        """The variables that changed, as people call them."""
        return [pgettext("field", factor.title) for factor in self.found.factors]


@dataclass(frozen=True)
class Field:
    """One line of the table of differences: a value for each run, None where a config lacks the field."""

    path: str
    unit: str
    cells: list[tuple[Any, bool]]


def chosen(*, user: User, run_ids: Sequence[int]) -> list[RunRow]:
    """Return the lines of those runs that the person may see, in the order they were named."""
    wanted = list(dict.fromkeys(run_ids))[:MOST_RUNS]
    runs = Run.objects.filter(pk__in=wanted, project__in=access.projects_of(user))
    found = {
        row.run.pk: row
        for row in run_table.rows_of(runs.select_related("card", "config", "created_by", "project"))
    }
    return [found[pk] for pk in wanted if pk in found]


def differences(rows: Sequence[RunRow]) -> list[Difference]:
    """Return what changes from the first run to each other one: configs and base checkpoints."""
    first, based_on = rows[0].run, base_lines.of_runs([row.run for row in rows])
    return [Difference(row, changes.between_runs(first, row.run, based_on)) for row in rows[1:]]


def fields(found: Sequence[Difference]) -> list[Field]:
    """Return every field that differs anywhere, with its value in each run, the first one's in front."""
    changed = [{change.path: change for change in one.found.changes} for one in found]
    everywhere = {path: change for changes in changed for path, change in changes.items()}
    return [
        Field(
            path,
            change.unit,
            [(change.old, False), *(_cell(changes, change) for changes in changed)],
        )
        for path, change in sorted(everywhere.items())
    ]


def names_of(runs: Iterable[Run]) -> list[str]:
    """Return the names of all metrics that any of the runs has logged."""
    found = Series.objects.filter(attempt__run__in=list(runs)).order_by("name")
    return list(found.values_list("name", flat=True).distinct())


def panels_of(names: Iterable[str]) -> Dashboard:
    """Return one panel a metric: the known ones first, the others by prefix."""
    drawn = dashboard.dashboard(names)
    single = [
        Panel(panel.title if len(panel.names) == 1 else name, (name,), panel.unit)
        for panel in drawn.panels
        for name in panel.names
    ]
    return Dashboard(tuple(single), drawn.groups)


def summed_names(drawn: Dashboard) -> list[str]:
    """Return the metrics that the table of results shows."""
    return [panel.names[0] for panel in drawn.panels][:MOST_SUMMED]


def summaries(
    runs: Sequence[Run], names: Sequence[str], step: int | None = None
) -> Mapping[int, Mapping[str, Summary]]:
    """Return by run and metric what the curve came to; `step`: where all are to be compared."""
    return {run.pk: comparing.summaries(run=run, names=names, step=step) for run in runs}


def common_step(rows: Iterable[RunRow]) -> int | None:
    """Return the last step that all of these runs have done; None where one has done none."""
    steps = [row.run.step for row in rows]
    known = [step for step in steps if step is not None]
    return min(known) if known and len(known) == len(steps) else None


def _cell(changes: Mapping[str, run_config.Change], base: run_config.Change) -> tuple[Any, bool]:
    own = changes.get(base.path)
    return (base.old, False) if own is None else (own.new, True)
