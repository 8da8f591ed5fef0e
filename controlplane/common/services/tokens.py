"""Personal tokens: made with scopes, project and expiry, shown once, revoked."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit, tokens
from controlplane.common.errors import Invalid, NotFound
from controlplane.common.models import PersonalToken, Project, Scope, User

_LONGEST_NAME = 80


@transaction.atomic
def create_token(
    *,
    user: User,
    name: str,
    scopes: Collection[str],
    project: Project | None = None,
    expires_at: datetime | None = None,
) -> tuple[PersonalToken, str]:
    """Make a token of one's own and return it with its secret, which can never be read again.

    A token made with a token goes no further than that one: not in scopes, nor in project, nor in time.

    Args:
        user: Whose it is.
        name: What it is for.
        scopes: Values of `Scope`; `read` is always among them.
        project: The only one that it sees; all of the person's when None.
        expires_at: When it ends; never when None.

    Raises:
        Invalid: A field cannot be used; `fields` names it.
    """
    access.require_service(user, "token.create")
    name = " ".join(name.replace("\0", " ").split())
    wanted = {*scopes, Scope.READ.value}
    faults = _faults(user, name, wanted, expires_at)
    if project is not None and not access.projects_of(user).filter(pk=project.pk).exists():
        faults["project"] = [_("You are no member of it.")]
    faults |= _beyond(user.token, wanted, project, expires_at)
    if faults:
        told = _("The token cannot be made: see %(fields)s.") % {"fields": ", ".join(faults)}
        raise Invalid(told, fields=faults)
    token, secret = tokens.issue_personal(
        user=user, name=name, scopes=wanted, project=project, expires_at=expires_at
    )
    data = {
        "name": name,
        "scopes": token.scopes,
        "expires_at": expires_at,
        "project": project.slug if project else None,
    }
    audit.record(actor=user, action="token.create", object=token, data=data)
    return token, secret


@transaction.atomic
def revoke_token(*, user: User, token_id: int) -> PersonalToken:
    """End a token of one's own at once; asked again nothing changes.

    Raises:
        NotFound: The person has no such token.
    """
    access.require_service(user, "token.revoke")
    token = PersonalToken.objects.select_for_update().filter(user=user, pk=token_id).first()
    if token is None:
        raise NotFound(_("You have no token %(id)s.") % {"id": token_id})
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(actor=user, action="token.revoke", object=token, data={"name": token.name})
    return token


def _faults(
    user: User, name: str, scopes: set[str], expires_at: datetime | None
) -> dict[str, list[str]]:
    faults: dict[str, list[str]] = {}
    if not 0 < len(name) <= _LONGEST_NAME:
        told = _("A name has 1 to %(most)d characters; this one has %(num)d.")
        faults["name"] = [told % {"most": _LONGEST_NAME, "num": len(name)}]
    elif PersonalToken.objects.filter(user=user, name=name, revoked_at__isnull=True).exists():
        faults["name"] = [_("You have a token of this name; revoke it first, or choose another.")]
    if unknown := sorted(scopes - set(Scope.values)):
        told = _("Unknown: %(unknown)s; there are %(known)s.")
        faults["scopes"] = [
            told % {"unknown": ", ".join(unknown), "known": ", ".join(Scope.values)}
        ]
    if expires_at is not None and expires_at <= timezone.now():
        faults["expires_at"] = [_("It lies in the past.")]
    return faults


def _beyond(
    token: PersonalToken | None,
    scopes: set[str],
    project: Project | None,
    expires_at: datetime | None,
) -> dict[str, list[str]]:
    """Return where a new token would go further than the one it is made with."""
    if token is None:
        return {}
    faults: dict[str, list[str]] = {}
    if more := sorted(scopes - set(token.scopes)):
        told = _("The token that you use has no %(scopes)s.")
        faults["scopes"] = [told % {"scopes": ", ".join(more)}]
    if token.project_id is not None and (project is None or project.pk != token.project_id):
        faults["project"] = [_("The token that you use is held to one project; name that one.")]
    if token.expires_at is not None and (expires_at is None or expires_at > token.expires_at):
        told = _("The token that you use ends at %(at)s.")
        faults["expires_at"] = [told % {"at": token.expires_at.isoformat()}]
    return faults
