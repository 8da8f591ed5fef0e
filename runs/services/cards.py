"""Experiment cards: every change is kept with who, when, old, new and why."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Invalid, SafeholdError
from controlplane.common.models import Project, User
from controlplane.common.versions import ChangedMeanwhile
from runs.models import Card, CardChange
from runs.models.card import NAME_CHARACTERS
from runs.services import base_fit
from runs.services.configs import refusal
from safehold.config import ConfigInvalid, flatten
from safehold.planning import CardFields, parse_card, read_kept
from safehold.planning.starting_point import base_faults

STAGES = ("pretrain", "continued", "sft", "preference")
_COLUMNS = ("name", "question", "stage")
_MOST_TOLD = 50  # of the changes that somebody made meanwhile


@transaction.atomic
def create_card(
    *,
    user: User,
    project: Project,
    name: str,
    question: str = "",
    stage: str = "pretrain",
    data: Mapping[str, Any] | None = None,
    parent: Card | None = None,
    pilot: str = Card.Pilot.NONE,
) -> Card:
    """Write a card.

    Args:
        user: Needs the role operator in the project; becomes the owner.
        project: Where it belongs.
        name: What people call it.
        question: What the experiment shall answer.
        stage: pretrain, continued, sft or preference.
        data: The typed fields of `safehold.planning`; all may be missing.
        parent: The card that a pilot was made from.
        pilot: Which kind of pilot.

    Raises:
        Invalid: A field cannot be used; `fields` names it.
    """
    access.require(user, project.pk, "card.create")
    values = _checked(
        {"name": name, "question": question, "stage": stage, "data": data or {}}, project.pk
    )
    card = Card.objects.create(project=project, owner=user, parent=parent, pilot=pilot, **values)
    audit.record(actor=user, action="card.create", object=card, data={"name": card.name})
    return card


@transaction.atomic
def update_card(
    *,
    user: User,
    card: Card,
    reason: str = "",
    name: str | None = None,
    question: str | None = None,
    stage: str | None = None,
    data: Mapping[str, Any] | None = None,
    seen_at: datetime | None = None,
) -> list[CardChange]:
    """Change what is given and keep each changed field in the trail; no difference leaves no trace.

    Args:
        user: Needs the role operator.
        card: The card.
        reason: Why; kept with every field changed at once.
        name: New name; None = as it is. So with the others.
        question: New question.
        stage: New stage.
        data: All typed fields, not only the changed ones.
        seen_at: `updated_at` of the card that the change was written over; None: whatever it is now.

    Raises:
        ChangedMeanwhile: Somebody changed it after `seen_at`; nothing of theirs was written over.
        Invalid: A field cannot be used; `fields` names it.
    """
    access.require(user, card.project_id, "card.update")
    held = Card.objects.select_for_update(no_key=True).get(pk=card.pk)
    if seen_at is not None and held.updated_at != seen_at:
        raise _changed_meanwhile(held, seen_at)
    given = {"name": name, "question": question, "stage": stage, "data": data}
    before = {key: getattr(held, key) for key in given}
    # What was kept before a field came has its default, so that a new field is no change of anybody's.
    old = read_kept(before["data"])
    before["data"] = old.model_dump(mode="json")
    wanted = before | {key: value for key, value in given.items() if value is not None}
    after = _checked(wanted, held.project_id, old)
    changes = [
        CardChange(card=held, user=user, field=field, old=old, new=new, reason=reason.strip())
        for field, old, new in _differences(before, after)
    ]
    for key, value in after.items():
        setattr(held, key, value)
        setattr(card, key, value)
    if changes:
        # The trail first: what is newer than `updated_at` is then a later change, never this one.
        CardChange.objects.bulk_create(changes)
        held.save(update_fields=[*after, "updated_at"])
        card.updated_at = held.updated_at
        told = {"fields": [change.field for change in changes], "reason": reason.strip()}
        audit.record(actor=user, action="card.update", object=held, data=told)
    return changes


def _changed_meanwhile(card: Card, seen_at: datetime) -> ChangedMeanwhile:
    newer = list(card.changes.filter(at__gt=seen_at).select_related("user")[:_MOST_TOLD])
    told = ", ".join(
        _("%(field)s by %(user)s") % {"field": one.field, "user": one.user} for one in newer[:10]
    )
    shown = ("field", "old", "new", "at", "reason")
    changes = [
        {name: getattr(one, name) for name in shown} | {"user": one.user.username} for one in newer
    ]
    return ChangedMeanwhile(
        _("Card %(card)s was changed after you opened it: %(changes)s.")
        % {"card": card.name, "changes": told or _("see its trail")},
        hint=_("Read it again, and change that."),
        extra={"version": version_of(card), "changes": changes},
    )


def version_of(card: Card) -> str:
    """Return what a change is written over: `seen_at` as a text."""
    return card.updated_at.isoformat()


def seen_at_of(version: str) -> datetime | None:
    """Return the `seen_at` of a version; None of an empty one, the beginning of time of one that is none."""
    if not version:
        return None
    try:
        found = datetime.fromisoformat(version)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _checked(
    values: Mapping[str, Any], project_id: int, old: CardFields | None = None
) -> dict[str, Any]:
    faults: dict[str, list[str]] = {}
    name = " ".join(values["name"].split())
    if not 0 < len(name) <= NAME_CHARACTERS:
        told = _("A name has 1 to %(most)s characters; this one has %(length)s.")
        faults["name"] = [told % {"most": NAME_CHARACTERS, "length": len(name)}]
    for key in _COLUMNS:
        if "\0" in values[key]:
            faults[key] = [_("It holds a NUL character.")]
    if values["stage"] not in STAGES:
        told = _("It is %(given)s; known: %(known)s.")
        faults["stage"] = [told % {"given": f"{values['stage']!r:.40}", "known": ", ".join(STAGES)}]
    fields = CardFields()
    try:
        fields = parse_card(values["data"])
        faults |= _faults_of_base(fields, project_id, old)
    except ConfigInvalid as error:
        faults |= refusal(error).fields
    if faults:
        raise refused(faults)
    return dict(values) | {"name": name, "data": fields.model_dump(mode="json")}


def refused(faults: dict[str, list[str]]) -> Invalid:
    """Return the faults of a card's fields as the failure that pages and API show."""
    told = _("The card cannot be used: see %(fields)s.") % {"fields": ", ".join(faults)}
    return Invalid(told, fields=faults)


def _faults_of_base(
    fields: CardFields, project_id: int, old: CardFields | None
) -> dict[str, list[str]]:
    """Hold the network against the checkpoint that it goes on from: it has to be there, proved, and of one shape.

    Asked only when one of the two changes: a card outlives its base.
    """
    is_same = (
        old is not None
        and old.base_checkpoint == fields.base_checkpoint
        and old.network == fields.network
    )
    if is_same or not fields.base_checkpoint:
        return {}
    try:
        base = base_fit.network_of(fields.base_checkpoint, project_id=project_id)
    except SafeholdError as error:
        return {"base_checkpoint": [f"{error.message} {error.hint}".strip()]}
    return {one.path: [f"{one.message} {one.hint}"] for one in base_faults(fields, base)}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    old = {key: before[key] for key in _COLUMNS} | flatten(before["data"])
    new = {key: after[key] for key in _COLUMNS} | flatten(after["data"])
    fields = dict.fromkeys([*old, *new])
    return [
        (field, old.get(field), new.get(field))
        for field in fields
        if old.get(field) != new.get(field)
    ]
