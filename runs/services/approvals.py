"""Two-person approval of production configs: one asks, another one gives; and what a launch demands of it."""

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict, Forbidden, Invalid
from controlplane.common.models import AuditEntry, User
from runs.models import Approval, Config
from runs.services import approval_gate, base_approval, base_lines
from safehold.config import config_hash

State = Approval.State


@transaction.atomic
def request_approval(*, user: User, config: Config, note: str = "") -> Approval:
    """Ask for approval of a frozen production config; asked again while it stands it is the same request.

    Args:
        user: Needs the role operator.
        config: Frozen, and of the kind production.
        note: What the approver should know.

    Raises:
        Conflict: It is not frozen, or no production config.
    """
    access.require(user, config.project_id, "config.request_approval")
    held = _held(config)
    if not held.is_production:
        raise Conflict(
            _("Config %(config)s is an experiment; nobody has to approve it.")
            % {"config": held.pk},
            hint=_('Write kind = "production" in the config that is meant for production.'),
        )
    if held.frozen_at is None:
        raise Conflict(
            _("Config %(config)s is not frozen.") % {"config": held.pk},
            hint=_("Freeze it, then ask for approval."),
        )
    _intact(held)
    if standing := standing_of(held):
        return standing
    made = Approval.objects.create(
        config=held, hash=held.hash, base_checkpoint=base_lines.of_card(held.card) or None,
        requested_by=user, note=note.strip(),
    )  # fmt: skip
    _tell(user, "config.request_approval", made, held)
    return made


@transaction.atomic
def approve(*, user: User, approval: Approval, reason: str = "") -> Approval:
    """Approve a config as a second person.

    Args:
        user: Needs the role approver; neither asked for it nor wrote the config.
        approval: One that nobody decided yet.
        reason: What was looked at.

    Raises:
        Forbidden: The person asked for the approval, or wrote the config.
        Conflict: It is decided, document or base is no longer the one that was shown, or a finding blocks it.
    """
    held = _open(user, approval, "config.approve")
    if user.pk in {held.requested_by_id, held.config.created_by_id}:
        raise Forbidden(
            _(
                "Config %(config)s must be approved by a second person: "
                "you wrote it or asked for the approval."
            )
            % {"config": held.config_id},
            code="second-person-needed",
            hint=_("Ask another approver of the project."),
        )
    _intact(held.config)
    if held.hash != held.config.hash:
        raise Conflict(
            _("Config %(config)s is not the one that was shown for approval.")
            % {"config": held.config_id}
        )
    base_approval.require_as_shown(held)
    approval_gate.require(held.config)
    return _decide(held, user, State.APPROVED, reason, "config.approve", approval)


@transaction.atomic
def reject(*, user: User, approval: Approval, reason: str) -> Approval:
    """Refuse a config, with the reason for its author.

    Args:
        user: Needs the role approver.
        approval: One that nobody decided yet.
        reason: What has to be changed.

    Raises:
        Invalid: There is no reason.
        Conflict: It is decided.
    """
    held = _open(user, approval, "config.reject")
    if not reason.strip():
        raise Invalid(
            _("A refusal needs its reason."), fields={"reason": [_("Say what is to be changed.")]}
        )
    return _decide(held, user, State.REJECTED, reason, "config.reject", approval)


@transaction.atomic
def withdraw(*, user: User, approval: Approval, reason: str) -> Approval:
    """Take a request or a given approval back; no further attempt starts.

    Args:
        user: The one who asked, or an approver.
        approval: One that stands.
        reason: Why.

    Raises:
        Invalid: There is no reason.
        Conflict: It does not stand any more.
    """
    held = Approval.objects.select_for_update().select_related("config").get(pk=approval.pk)
    own = held.requested_by_id == user.pk
    needed = "config.request_approval" if own else "config.withdraw_approval"
    access.require(user, held.config.project_id, needed)
    if not reason.strip():
        raise Invalid(_("It needs a reason."), fields={"reason": [_("Say why.")]})
    if held.state not in {State.REQUESTED, State.APPROVED}:
        raise Conflict(
            _("The approval of config %(config)s is %(state)s.")
            % {"config": held.config_id, "state": held.get_state_display()}
        )
    return _decide(held, user, State.WITHDRAWN, reason, "config.withdraw_approval", approval)


def newest_state() -> Subquery:
    """Return the state of the newest approval, for the lists of configs."""
    newest = Approval.objects.filter(config=OuterRef("pk")).order_by("-pk")
    return Subquery(newest.values("state")[:1])


def standing_of(config: Config) -> Approval | None:
    """Return the request or approval that stands, or None."""
    found = Approval.objects.filter(config=config, state__in=[State.REQUESTED, State.APPROVED])
    return found.select_related("requested_by", "decided_by").first()


def require_shown(standing: Approval, shown: str) -> None:
    """Pass where the request that stands is the one that was looked at.

    Args:
        standing: The request or approval that would be acted on.
        shown: The id of the one that was shown; empty where nobody says.

    Raises:
        Conflict: Another one stands, perhaps with another base checkpoint.
    """
    if shown and shown != str(standing.pk):
        raise Conflict(
            _("Approval of config %(id)s was asked for anew since you looked.")
            % {"id": standing.config_id},
            hint=_("Look at what stands there now."),
        )


def require_approved(*, config: Config, user: User | None = None) -> None:
    """Pass where a config may start an attempt now, or raise.

    An experiment always may. A production config is frozen, is what its digest names, and was approved by a second
    person, whose act stands in the audit trail; whoever starts it is not the one who approved it.

    Args:
        config: What would be started.
        user: Who starts it; None: the service itself, going on with what a person started.

    Raises:
        Conflict: What is missing.
        Forbidden: The person approved it.
    """
    if not config.is_production:
        return
    _intact(config)
    if config.frozen_at is None:
        raise _not_approved(
            _("Production config %(config)s is not frozen.") % {"config": config.pk},
            _("Freeze it and have it approved."),
        )
    given = standing_of(config)
    if given is None or given.state != State.APPROVED:
        raise _not_approved(
            _("Production config %(config)s is not approved.") % {"config": config.pk},
            _("Its approval is asked for; an approver who neither wrote it nor asked gives it.")
            if given
            else _("Ask for approval; another person gives it."),
        )
    if given.hash != config.hash or not _is_on_record(given):
        raise _not_approved(
            _("Production config %(config)s has an approval that the audit trail does not know.")
            % {"config": config.pk},
            _("Have it approved again."),
        )
    if user is not None and user.pk == given.decided_by_id:
        raise Forbidden(
            _("You approved config %(config)s; another person has to start it.")
            % {"config": config.pk},
            code="second-person-needed",
        )


def _is_on_record(given: Approval) -> bool:
    """Whether the approver's own act was recorded: a row that was written past the services has none."""
    entry = AuditEntry.objects.filter(
        object_type="approval", object_id=str(given.pk), action="config.approve",
        actor_id=given.decided_by_id, data__hash=given.hash,
    ).first()  # fmt: skip
    return entry is not None and entry.data.get("base_checkpoint") == given.base_checkpoint


def _not_approved(message: str, hint: str) -> Conflict:
    return Conflict(message, code="not-approved", hint=hint)


def _intact(config: Config) -> None:
    if config_hash(config.document) != config.hash:
        raise Conflict(
            _(
                "The document of config %(config)s does not match its digest %(digest)s: "
                "somebody changed it."
            )
            % {"config": config.pk, "digest": config.hash}
        )


def _held(config: Config) -> Config:
    return Config.objects.select_for_update(no_key=True).get(pk=config.pk)


def _open(user: User, approval: Approval, act: str) -> Approval:
    held = Approval.objects.select_for_update().select_related("config").get(pk=approval.pk)
    access.require(user, held.config.project_id, act)
    if held.state != State.REQUESTED:
        raise Conflict(
            _("The approval of config %(config)s is %(state)s already.")
            % {"config": held.config_id, "state": held.get_state_display()}
        )
    return held


def _decide(
    held: Approval, user: User, state: Approval.State, reason: str, action: str, given: Approval
) -> Approval:
    held.state, held.decided_by, held.decided_at = state, user, timezone.now()
    held.reason = reason.strip()
    held.save(update_fields=["state", "decided_by", "decided_at", "reason"])
    _tell(user, action, held, held.config)
    for name in ("state", "decided_by", "decided_at", "reason"):
        setattr(given, name, getattr(held, name))
    return held


def _tell(user: User, action: str, approval: Approval, config: Config) -> None:
    data = {
        "config": config.pk, "hash": approval.hash, "base_checkpoint": approval.base_checkpoint,
        "reason": approval.reason or approval.note,
    }  # fmt: skip
    audit.record(
        actor=user, action=action, object=approval, project_id=config.project_id, data=data
    )
