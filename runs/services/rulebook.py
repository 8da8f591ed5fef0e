"""The rulebook of a project: the rules as written, and the bounds that the project set instead."""

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common import access, audit, versions
from controlplane.common.errors import Invalid, NotFound
from controlplane.common.models import Project, User
from controlplane.common.versions import ChangedMeanwhile
from runs.models import RulebookValue
from safehold import rulebook
from safehold.rulebook import Rule, Rulebook


def in_force(project_id: int) -> Rulebook:
    """Return the rulebook as it holds in a project."""
    rows = RulebookValue.objects.filter(project_id=project_id).values_list("rule", "low", "high")
    return rulebook.with_values({rule: {"low": low, "high": high} for rule, low, high in rows})


@transaction.atomic
def set_value(
    *,
    user: User,
    project: Project,
    rule_id: str,
    low: float | None,
    high: float | None,
    reason: str,
    seen: str = "",
) -> RulebookValue:
    """Set the bounds of a rule in a project.

    Args:
        user: Needs the role approver: who may launch shall not loosen what holds him.
        project: Where it counts.
        rule_id: As `safehold.rulebook` names it.
        low: Smallest value inside; None: no bound.
        high: Largest value inside; None: no bound.
        reason: Why the project differs.
        seen: `version_of` the rule as it was read; empty: whatever it is now.

    Raises:
        ChangedMeanwhile: Somebody set other bounds after that.
        NotFound: There is no such rule.
        Invalid: The bounds cannot be, or there is no reason.
    """
    access.require(user, project.pk, "rulebook.set")
    rule = rule_of(rule_id)
    if not reason.strip():
        raise Invalid(_("A bound of its own needs a reason."), fields={"reason": [_("Say why.")]})
    try:
        rulebook.check_value(rule, low, high)
    except ValueError as error:
        raise Invalid(str(error), fields={"low": [str(error)]}) from error
    before = _held(project, rule_id)
    _require_unchanged(rule_id, before, seen)
    values = {"low": low, "high": high, "reason": reason.strip(), "set_by": user}
    kept, _is_new = RulebookValue.objects.update_or_create(
        project=project, rule=rule_id, defaults=values
    )
    old = [before.low, before.high] if before else [rule.low, rule.high]
    data = {"rule": rule_id, "old": old, "new": [low, high], "reason": kept.reason}
    audit.record(actor=user, action="rulebook.set", object=kept, project_id=project.pk, data=data)
    return kept


@transaction.atomic
def reset_value(*, user: User, project: Project, rule_id: str, seen: str = "") -> None:
    """Go back to the bounds as they are written; where none were set nothing changes.

    Raises:
        ChangedMeanwhile: The project's own bounds have not the version that was read.
    """
    access.require(user, project.pk, "rulebook.reset")
    rule = rule_of(rule_id)
    kept = _held(project, rule_id)
    if kept is None:
        return
    _require_unchanged(rule_id, kept, seen)
    data = {"rule": rule_id, "old": [kept.low, kept.high], "new": [rule.low, rule.high]}
    audit.record(actor=user, action="rulebook.reset", object=kept, project_id=project.pk, data=data)
    kept.delete()


def version_of(own: RulebookValue | None) -> str:
    """Return the version of a project's own bounds of a rule; that of none where it set none."""
    return versions.version_of(_set(own)) if own is not None else "written"


def _set(own: RulebookValue) -> dict[str, object]:
    return {"low": own.low, "high": own.high, "reason": own.reason}


def _require_unchanged(rule_id: str, own: RulebookValue | None, seen: str) -> None:
    if own is not None:
        versions.require_unchanged(seen, _set(own), own, "rulebook.set")
    elif seen and seen != version_of(None):
        raise ChangedMeanwhile(
            _("The project's own bounds of %(rule)s were taken back after you read them.")
            % {"rule": rule_id},
            extra={"version": version_of(None), "changes": [{"field": "is_own", "now": False}]},
        )


def _held(project: Project, rule_id: str) -> RulebookValue | None:
    # The lock on the project has two people who set one rule queue, where no row is there to lock yet.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    return RulebookValue.objects.filter(project=project, rule=rule_id).first()


def rule_of(rule_id: str) -> Rule:
    """Return a rule as it is written.

    Raises:
        NotFound: There is none.
    """
    for rule in rulebook.written().rules():
        if rule.id == rule_id:
            return rule
    raise NotFound(
        _("There is no rule %(rule)s.") % {"rule": rule_id}, hint=_("See the list of rules.")
    )
