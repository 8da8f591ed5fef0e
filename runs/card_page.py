"""What stands around the form of a kept card: configs, runs with their results, pilots, mixes, the trail."""

from typing import Any

from controlplane.common.access import may
from controlplane.common.models import User
from runs import mixes, results, run_table
from runs.models import Card, Cluster, Run

_RUNS, _CHANGES, _OTHERS = 20, 200, 20


def around(user: User, card: Card) -> dict[str, Any]:
    """Return what the page shows below the form, and whether this person may change the card."""
    newest = run_table.with_names(Run.objects.filter(card=card)).order_by("-pk")[:_RUNS]
    return {
        "card": card,
        "can_change": may(user, card.project_id, "card.update"),
        "results": results.results_of(card, newest),
        "changes": card.changes.select_related("user")[:_CHANGES],
        "configs": card.configs.all()[:_OTHERS],
        "pilots": card.pilots.order_by("-pk")[:_OTHERS],
        "ranking": mixes.ranking_of(card) if card.pilot == Card.Pilot.MIX else [],
    }


def clusters() -> list[str]:
    """Return the names under which a card may ask for a cluster's history."""
    return ["local", *Cluster.objects.order_by("name").values_list("name", flat=True)]
