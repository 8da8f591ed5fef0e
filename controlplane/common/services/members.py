"""Members of a project and their roles. A project never loses its last admin."""

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common import access, audit, versions
from controlplane.common.errors import Conflict, Invalid, NotFound
from controlplane.common.models import Membership, Project, Role, User


class LastAdmin(Conflict):
    """Without an admin nobody of the project could ever change its members again."""

    code = "last-admin"


@transaction.atomic
def add_member(*, user: User, project: Project, username: str, role: Role) -> Membership:
    """Give somebody who has an account a role in the project.

    Raises:
        Invalid: There is no such account, or it is a member already.
    """
    access.require(user, project.pk, "member.add")
    person = User.objects.filter(username=username.strip(), is_active=True).first()
    if person is None:
        raise _refused(_("There is no active account %(name)r.") % {"name": username.strip()[:150]})
    member, is_new = Membership.objects.get_or_create(
        project=project, user=person, defaults={"role": role}
    )
    if not is_new:
        told = _("%(name)s is a member already, as %(role)s.")
        raise _refused(told % {"name": person.username, "role": member.get_role_display()})
    _record(user, member, "member.add", new=role)
    return member


@transaction.atomic
def change_role(
    *, user: User, project: Project, username: str, role: Role, seen: str = ""
) -> Membership:
    """Give a member another role; from then on no group of an identity provider changes it.

    Raises:
        NotFound: No member has this name.
        ChangedMeanwhile: The role is not the one that was read.
        LastAdmin: It would leave the project without an admin.
    """
    access.require(user, project.pk, "member.change")
    member = _held(project, username)
    versions.require_unchanged(
        seen, _edited(member), member, "member.change", "member.follow_groups"
    )
    old = Role(member.role)
    if old == role:
        return member
    if role < Role.ADMIN:
        _keep_an_admin(member)
    member.role, member.is_from_group = role, False
    member.save(update_fields=["role", "is_from_group"])
    _record(user, member, "member.change", old=old, new=role)
    return member


@transaction.atomic
def remove_member(*, user: User, project: Project, username: str) -> None:
    """Take somebody out of the project; what they did stays recorded under their name.

    Raises:
        NotFound: No member has this name.
        LastAdmin: It would leave the project without an admin.
    """
    access.require(user, project.pk, "member.remove")
    member = _held(project, username)
    _keep_an_admin(member)
    _record(user, member, "member.remove", old=Role(member.role))
    member.delete()


def version_of(member: Membership) -> str:
    """Return the version of a member's role."""
    return versions.version_of(_edited(member))


def _edited(member: Membership) -> dict[str, object]:
    return {"role": Role(member.role).name.lower()}


def _held(project: Project, username: str) -> Membership:
    # The lock on the project has two admins who remove each other queue.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    members = Membership.objects.select_related("user", "project")
    found = members.filter(project=project, user__username=username).first()
    if found is None:
        raise NotFound(
            _("%(name)s is no member of project %(slug)s.")
            % {"name": username, "slug": project.slug}
        )
    return found


def _keep_an_admin(member: Membership) -> None:
    if member.role != Role.ADMIN:
        return
    others = Membership.objects.filter(
        project=member.project, role=Role.ADMIN, user__is_active=True
    )
    if not others.exclude(pk=member.pk).exists():
        raise LastAdmin(
            _("%(name)s is the last admin of project %(slug)s.")
            % {"name": member.user.username, "slug": member.project.slug},
            hint=_("Make somebody else an admin first."),
        )


def _record(user: User, member: Membership, action: str, **roles: Role) -> None:
    data = {"person": member.user.username} | {
        key: role.name.lower() for key, role in roles.items()
    }
    audit.record(actor=user, action=action, object=member, project_id=member.project_id, data=data)


def _refused(message: str) -> Invalid:
    return Invalid(message, fields={"username": [message]})
