"""`/api/v1/rulebook`: the rules in force in a project, and its own bounds."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from pydantic import Field

from controlplane.common.api import Input, Output, caller, mark, project_for, seen_version
from runs import rulebook_table
from runs.services import rulebook

router = Router(tags=["rulebook"])


class RuleOut(Output):
    """One rule as it is in force; `written_low` and `written_high` are the bounds before the project's own."""

    id: str
    family: str
    topic: str
    check: str
    quantity: str
    field: str
    unit: str
    where: str
    span: str
    low: float | None
    high: float | None
    words: list[str]
    outside: str
    reason: str
    advice: str
    source: str
    is_own: bool
    written_low: float | None
    written_high: float | None
    own_reason: str
    set_by: str | None
    version: str = Field(description="Of the project's own bounds: for `If-Match` of a change.")


class BookOut(Output):
    """The whole rulebook of a project."""

    project: str
    items: list[RuleOut]


class BoundsIn(Input):
    """The project's own bounds of a rule."""

    low: float | None = Field(None, description="Smallest value inside; none: no bound.")
    high: float | None = Field(None, description="Largest value inside; none: no bound.")
    reason: str = Field(max_length=2000)
    project: str | None = None


@router.get("", response=BookOut, summary="List the rules in force")
def list_rules(request: HttpRequest, project: str | None = None) -> Any:
    """List every rule with its bounds in the project, its reason and its source."""
    found = project_for(caller(request), project)
    rows = rulebook_table.rows(found.pk)
    return {"project": found.slug, "items": [_shape(row) for row in rows]}


@router.patch("/{rule_id}", response=RuleOut, summary="Set the bounds of a rule")
def set_bounds(request: HttpRequest, response: HttpResponse, rule_id: str, body: BoundsIn) -> Any:
    """Set a project's own bounds, with the reason; an approver's act."""
    user = caller(request)
    project = project_for(user, body.project)
    rulebook.set_value(
        user=user, project=project, rule_id=rule_id, low=body.low, high=body.high, reason=body.reason,
        seen=seen_version(request),
    )  # fmt: skip
    answer = _shape(rulebook_table.row(project.pk, rule_id))
    mark(response, answer["version"])
    return answer


@router.delete("/{rule_id}", response={204: None}, summary="Take the bounds as written")
def reset_bounds(request: HttpRequest, rule_id: str, project: str | None = None) -> Any:
    """Drop a project's own bounds; without any nothing changes."""
    user = caller(request)
    found, seen = project_for(user, project), seen_version(request)
    rulebook.reset_value(user=user, project=found, rule_id=rule_id, seen=seen)
    return Status(204, None)


def _shape(row: rulebook_table.Row) -> dict[str, Any]:
    plain = ("id", "family", "topic", "where", "span", "low", "high", "outside", "reason", "advice", "source")  # fmt: skip
    own = row.own
    return {name: getattr(row.rule, name) for name in plain} | {
        "quantity": row.rule.quantity, "words": list(row.rule.words), "check": row.family.code,
        "field": row.quantity.field, "unit": row.quantity.unit, "is_own": own is not None,
        "written_low": row.written.low, "written_high": row.written.high,
        "version": rulebook.version_of(own), "own_reason": own.reason if own else "", "set_by": own.set_by.username if own else None,
    }  # fmt: skip
