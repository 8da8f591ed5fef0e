"""The orders of the table of runs, each by a key that is never null, so that its pages can be cut."""

import math
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    FloatField,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from runs import listings, states
from runs.models import Attempt, Run

# The orders that the table offers; a key is a column, or an expression of `_keys`, and never null.
ORDERS = {
    "newest": "-pk", "oldest": "pk", "name": "name", "activity": "-active_at", "loss": "loss_key", "step": "-step_key",
    "state": "state_rank",
}  # fmt: skip
FAILED = (
    states.Outcome.FAILED,
    states.Outcome.COULD_NOT_START,
    states.Outcome.LOST,
    states.Outcome.TAKEN_AWAY,
)
# By state: what needs a person first, then what trains, what failed, the rest, and what never began.
_CONTACT_LOST, _OPEN, _BROKEN, _OVER, _DRAFT = range(5)


def ordered(
    runs: "QuerySet[Run]",
    *,
    order: str,
    cursor: str = "",
    size: int = listings.PAGE_SIZE,
    is_strict: bool = False,
) -> listings.Page[Run]:
    """Cut one page of runs in one of the orders of the table; the rest as `listings.page_of`."""
    column = ORDERS.get(order, "-pk")
    if (key := column.removeprefix("-")) not in _keys():
        return listings.page_of(runs, order=column, cursor=cursor, size=size, is_strict=is_strict)
    # Every run has to be looked at for its key: without what a line names beside it, which is read for one page only.
    keyed = runs.select_related(None).defer(None).only("pk").annotate(**{key: _keys()[key]})
    page = listings.page_of(keyed, order=column, cursor=cursor, size=size, is_strict=is_strict)
    whole = runs.in_bulk([run.pk for run in page.rows])
    return listings.Page([whole[run.pk] for run in page.rows], page.next_cursor)


def _keys() -> dict[str, Any]:
    """Return the expressions to sort by; a run without a loss comes after all others."""
    newest = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number")
    rank = Case(
        When(contact_lost_since__isnull=False, ended_at__isnull=True, then=_CONTACT_LOST),
        When(ended_at__isnull=True, then=_OPEN),
        When(outcome__in=FAILED, then=_BROKEN),
        default=_OVER,
    )
    ranks = Subquery(newest.annotate(rank=rank).values("rank")[:1], output_field=IntegerField())
    return {
        "active_at": Coalesce("last_point_at", "desired_at", "created_at"),
        "loss_key": Coalesce("last_loss", Value(math.inf), output_field=FloatField()),
        "step_key": Coalesce("step", Value(-1), output_field=BigIntegerField()),
        "state_rank": Coalesce(ranks, Value(_DRAFT)),
    }
