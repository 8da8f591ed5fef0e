"""The mixes that a mix pilot compares, ranked by what their networks can do (CARD-8)."""

from typing import Any

from runs import evaluations, results
from runs.models import Card, Run
from safehold.planning import read_kept
from safehold.planning.acceptance import Measured, names_of
from safehold.planning.pilots import MixResult, RankedMix, ranked

_RUNS = 100


def ranking_of(card: Card) -> list[RankedMix]:
    """Return the newest run of each mix of a mix pilot in its place; the acceptance metrics decide."""
    wanted = read_kept(card.data).acceptance
    newest: dict[int, Run] = {}
    for run in card.runs.select_related("config").order_by("-pk")[:_RUNS]:
        newest.setdefault(run.config_id, run)
    measured = evaluations.newest(list(newest.values()), results.names_wanted(wanted))
    found = [
        MixResult(
            run.config.name,
            (run.config.document.get("data") or {}).get("mix") or {},
            {
                one.metric: value.value
                for one in wanted
                if (value := _value(measured.get(run.pk, {}), names_of(one)))
            },
        )
        for run in newest.values()
    ]
    return ranked(found, wanted)


def document_of(found: RankedMix) -> dict[str, Any]:
    """Return one line of the ranking as JSON values."""
    result = found.result
    return {
        "place": found.place, "mean_rank": found.mean_rank if result.values else None, "name": result.name,
        "shares": dict(result.shares), "values": dict(result.values), "ranks": dict(found.ranks),
    }  # fmt: skip


def _value(measured: dict[str, Measured], names: list[str]) -> Measured | None:
    return next((measured[name] for name in names if name in measured), None)
