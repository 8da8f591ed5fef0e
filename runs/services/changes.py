"""What a run changes against the config that it follows, and why more than one variable may change."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from controlplane.common import access, audit
from controlplane.common.errors import Invalid
from controlplane.common.models import User
from runs.base_change import with_base
from runs.models import Config, Run, RunChange
from runs.services import base_lines, events
from safehold.config import Comparison, compare


def between(old: Config, new: Config) -> Comparison:
    """Return what changes from one config to the other, and how many variables that is."""
    return compare(old.document, new.document)


def parent_of(*, config: Config, parent: Run | None) -> Config | None:
    """Return the config that a run is held against: that of the run it is forked from, else the one before its own."""
    return parent.config if parent is not None else config.parent


def against_parent(config: Config) -> Comparison | None:
    """Return what a config changes against the one before it; None where it follows nothing."""
    return between(config.parent, config) if config.parent is not None else None


def of_new_run(*, config: Config, base: int) -> Comparison | None:
    """Return what a run of a config that begins with a base would change; None where the config follows nothing."""
    found = against_parent(config)
    return found and with_base(found, base_lines.before(config=config, parent=None), base)


def between_runs(old: Run, new: Run, based_on: Mapping[int, int]) -> Comparison:
    """Return what changes from one run to the other: configs, and the base of each (`base_lines.of_runs`)."""
    return with_base(between(old.config, new.config), based_on[old.pk], based_on[new.pk])


def record(*, run: Run, user: User, reason: str = "") -> RunChange | None:
    """Keep the verdict with a new run; None where it follows nothing.

    Args:
        run: Just made.
        user: Who makes it.
        reason: Why more than one variable changes; may be given at launch too.
    """
    before = parent_of(config=run.config, parent=run.parent)
    if before is None:
        return None
    made = RunChange(run=run, parent_config=before)
    _judge(made, base_lines.of_run(run))
    made.save(force_insert=True)
    why = reason.strip() or (reason_of_pilot(run.config) if run.parent is None else "")
    if why:
        give_reason(run=run, user=user, reason=why)
        made.refresh_from_db()
    return made


def begins_with(*, run: Run, base: int) -> None:
    """Count the base that a launch chose: it may be another one than was planned."""
    changed = RunChange.objects.filter(run=run).first()
    if changed is not None:
        _judge(changed, base)
        changed.save(update_fields=["parent_base", "base", "num_factors", "factors"])


def _judge(changed: RunChange, base: int) -> None:
    run = changed.run
    before = base_lines.before(config=run.config, parent=run.parent)
    found = with_base(between(changed.parent_config, run.config), before, base)
    changed.parent_base, changed.base = before or None, base or None
    changed.num_factors = found.num_factors
    changed.factors = [asdict(factor) for factor in found.factors]


def reason_of_pilot(config: Config) -> str:
    """Return why the config of a pilot differs in many things at once: it was shrunk from another card's."""
    card = config.card
    if card is None or not card.pilot or config.parent is None:
        return ""
    is_shrunk = card.parent_id is not None and config.parent.card_id == card.parent_id
    return f"{card.get_pilot_display()} of the card {card.parent}." if is_shrunk else ""


@transaction.atomic
def give_reason(*, run: Run, user: User, reason: str) -> None:
    """Keep why more than one variable changes; the first reason stays."""
    access.require(user, run.project_id, "run.change_reason")
    changed = RunChange.objects.select_for_update().filter(run=run, reason="").first()
    if changed is None or not reason.strip():
        return
    changed.reason, changed.reason_by, changed.reason_at = reason.strip(), user, timezone.now()
    changed.save(update_fields=["reason", "reason_by", "reason_at"])
    data = {"reason": changed.reason, "variables": [one["title"] for one in changed.factors]}
    audit.record(actor=user, action="run.change_reason", object=run, data=data)
    message = (
        f"{user} gave the reason for {changed.num_factors} changed variables: {changed.reason}"
    )
    events.record(run=run, kind="change_reason", user=user, message=message, data=data)


def require_reason(*, run: Run) -> None:
    """Pass where a run changes at most one variable, or its reason is known.

    Raises:
        Invalid: More than one variable changed, and nobody said why; `factors` lists them.
    """
    changed = RunChange.objects.filter(run=run).first()
    if changed is not None and changed.more_than_one and not changed.reason:
        raise no_reason(changed.parent_config_id, changed.factors)


def no_reason(parent_id: int, factors: list[dict[str, Any]]) -> Invalid:
    """Return the refusal of several changes without a reason."""
    titles = [one["title"] for one in factors]
    names = ", ".join(pgettext("field", title) for title in titles)
    told = _("More than one variable changed against config %(config)s: %(variables)s.") % {
        "config": parent_id,
        "variables": names,
    }
    return Invalid(
        told,
        code="reason-needed",
        hint=_(
            "Say why (--reason on the command line, or the run's page under Config & proof), "
            "or change one variable at a time."
        ),
        fields={"reason": [told]},
        extra={"factors": factors},
    )
