"""The one place that says no: what a person may do in a project, and with which token."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict, Forbidden, NotFound
from controlplane.common.models import Membership, Project, Role, User
from controlplane.common.rights import READ, Act, Level, act_of


def role_of(user: User, project_id: int) -> Role | None:
    """Return the role of this person in the project, or None for an outsider.

    A superuser is an admin everywhere. With a token that is held to a project there is no other one.
    """
    return _standing(user, project_id)[0]


def require(user: User, project_id: int, needed: str | Role) -> None:
    """Pass, or raise.

    Args:
        user: Who asks; `user.token` is the personal token of the request, where it has one.
        project_id: Of the object.
        needed: An act of `controlplane.common.rights`; a bare role for what has no name yet.

    Raises:
        NotFound: The person is no member, and shall not learn that the object exists.
        Forbidden: The person is a member with a lower role, or the token is not made for this.
        Conflict: The project is archived, and this would change something in it.
    """
    act = act_of(needed)
    own, is_archived = _standing(user, project_id)
    if own is None:
        raise NotFound(_("There is no such object, or you are no member of its project."))
    assert isinstance(act.least, Role), f"{act.name} belongs to no project"
    if own < act.least:
        raise Forbidden(
            _("This needs the role %(needed)s; you are %(own)s.")
            % {"needed": act.least.label, "own": own.label},
            hint=_("Ask an admin of the project for the role."),
        )
    _require_scope(user, act)
    if is_archived and act.least > Role.VIEWER and act.name not in _ON_ARCHIVED:
        raise Conflict(
            _("The project is archived; nothing in it can be changed."),
            code="project-archived",
            hint=_("An admin of the project can bring it back."),
        )


def require_service(user: User, name: str) -> None:
    """Pass, or raise: for acts that belong to no project.

    Raises:
        Forbidden: The person is no administrator of the service, or the token is not made for this.
    """
    act = act_of(name)
    is_allowed = user.is_active and (act.least is Level.PERSON or user.is_superuser)
    if not is_allowed:
        raise Forbidden(_("Only an administrator of the service can %(act)s.") % {"act": act.words})
    _require_scope(user, act)
    if (
        user.token is not None
        and user.token.project_id is not None
        and act.least is Level.ADMINISTRATOR
    ):
        raise Forbidden(
            _("The token %(name)s is held to one project; it cannot %(act)s.")
            % {"name": user.token.name, "act": act.words},
            code="token-scope",
        )


def may(user: User, project_id: int | None, name: str) -> bool:
    """Say whether `require` or `require_service` would pass: for the buttons of a page."""
    try:
        if project_id is None:
            require_service(user, name)
        else:
            require(user, project_id, name)
    except (NotFound, Forbidden, Conflict):
        return False
    return True


def projects_of(user: User) -> QuerySet[Project]:
    """Return the projects that this person may see, by name."""
    found = Project.objects.order_by("name")
    if user.token is not None and user.token.project_id is not None:
        found = found.filter(pk=user.token.project_id)
    return found if user.is_superuser else found.filter(memberships__user=user)


_ON_ARCHIVED = frozenset(
    {
        "project.restore",
        "project.rename",
        "member.add",
        "member.change",
        "member.remove",
        "audit.verify",
    }
)


def _standing(user: User, project_id: int) -> tuple[Role | None, bool]:
    """Return the role and whether the project is archived, in one query."""
    token = getattr(
        user, "token", None
    )  # an AnonymousUser, which a page may hand on, has none and is never active
    if not user.is_active or (token is not None and token.project_id not in (None, project_id)):
        return None, False
    if user.is_superuser:
        archived_at = (
            Project.objects.filter(pk=project_id).values_list("archived_at", flat=True).first()
        )
        return Role.ADMIN, archived_at is not None
    found = (
        Membership.objects.filter(user=user, project_id=project_id)
        .values_list("role", "project__archived_at")
        .first()
    )
    return (None, False) if found is None else (Role(found[0]), found[1] is not None)


def _require_scope(user: User, act: Act) -> None:
    if user.token is None or act.name == READ or act.scopes & set(user.token.scopes):
        return
    needed = _(" or ").join(sorted(act.scopes))
    raise Forbidden(
        _("The token %(name)s lacks the scope %(scopes)s, which it takes to %(act)s.")
        % {"name": user.token.name, "scopes": needed, "act": act.words},
        code="token-scope",
        hint=_("Make a token with that scope in the settings."),
    )
