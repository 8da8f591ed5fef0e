"""The one place that says who may do what in a project."""

from django.db.models import QuerySet

from controlplane.common.errors import Forbidden, NotFound
from controlplane.common.models import Membership, Project, Role, User


def role_of(user: User, project_id: int) -> Role | None:
    """Return the role of this person in the project, or None for an outsider.

    A superuser is an admin everywhere. A request made with a personal token carries the ceiling
    `user.max_role`, set where the token was read.
    """
    # An AnonymousUser, which a page may hand on, is never active.
    if not user.is_active:
        return None
    role = Role.ADMIN if user.is_superuser else _membership_role(user, project_id)
    ceiling = getattr(user, "max_role", None)
    return role if role is None or ceiling is None else Role(min(role, ceiling))


def _membership_role(user: User, project_id: int) -> Role | None:
    value = (
        Membership.objects.filter(user=user, project_id=project_id)
        .values_list("role", flat=True)
        .first()
    )
    return None if value is None else Role(value)


def require(user: User, project_id: int, role: Role) -> None:
    """Pass, or raise.

    Raises:
        NotFound: The person is no member, and shall not learn that the object exists.
        Forbidden: The person is a member with a lower role.
    """
    own = role_of(user, project_id)
    if own is None:
        raise NotFound("There is no such object, or you are no member of its project.")
    if own < role:
        raise Forbidden(
            f"This needs the role {role.label}; you are {own.label}.",
            hint="Ask an admin of the project for the role.",
        )


def projects_of(user: User) -> QuerySet[Project]:
    """Return the projects that this person may see, by name."""
    if user.is_superuser:
        return Project.objects.order_by("name")
    return Project.objects.filter(memberships__user=user).order_by("name")
