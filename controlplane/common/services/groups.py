"""Roles that come from groups of the identity provider: brought in step at every sign-in."""

import logging

from django.db import transaction

from controlplane.common import audit
from controlplane.common.models import Membership, Project, Role, User
from controlplane.common.oidc.roles import Grants

logger = logging.getLogger(__name__)


@transaction.atomic
def follow_groups(*, person: User, grants: Grants, administers: bool) -> None:
    """Give a person the roles that the groups say, and take back those that a group gave before.

    A role given by hand stays as it is.

    Args:
        person: Who has just signed in.
        grants: What the groups give now.
        administers: Whether a group can make administrators at all; else nobody loses that right here.
    """
    if administers and person.is_superuser != grants.is_administrator:
        person.is_superuser = person.is_staff = grants.is_administrator
        person.save(update_fields=["is_superuser", "is_staff"])
        data = {"person": person.username, "administrator": grants.is_administrator}
        audit.record(actor=None, action="person.follow_groups", object=person, data=data)
    held = {
        one.project.slug: one
        for one in Membership.objects.filter(user=person).select_related("project")
    }
    for slug, role in grants.roles.items():
        _give(person, slug, role, held.get(slug))
    for slug, member in held.items():
        if member.is_from_group and slug not in grants.roles:
            _record(member, old=Role(member.role).name.lower(), new=None)
            member.delete()


def _give(person: User, slug: str, role: Role, member: Membership | None) -> None:
    if member is not None:
        if member.is_from_group and member.role != role:
            _record(member, old=Role(member.role).name.lower(), new=role.name.lower())
            member.role = role
            member.save(update_fields=["role"])
        return
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        logger.warning("oidc.unknown_project", extra={"project": slug, "user_id": person.pk})
        return
    made = Membership.objects.create(project=project, user=person, role=role, is_from_group=True)
    _record(made, old=None, new=role.name.lower())


def _record(member: Membership, **roles: str | None) -> None:
    data = {"person": member.user.username, **roles}
    audit.record(
        actor=None,
        action="member.follow_groups",
        object=member,
        project_id=member.project_id,
        data=data,
    )
