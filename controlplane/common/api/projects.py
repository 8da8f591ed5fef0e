"""`/api/v1/projects`: projects and their members."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common import access
from controlplane.common.api.auth import caller
from controlplane.common.api.idempotency import once
from controlplane.common.api.pages import Page, PageQuery, page_by_id
from controlplane.common.api.schemas import Input, Output
from controlplane.common.api.seen import seen_version
from controlplane.common.errors import NotFound
from controlplane.common.models import Membership, Project, Role, User
from controlplane.common.rights import READ
from controlplane.common.services import members, projects

router = Router(tags=["projects"])
RoleName = Literal["viewer", "operator", "approver", "admin"]


class NewProject(Input):
    """A new project."""

    name: str = Field(max_length=80)
    slug: str = Field(
        "", max_length=60, description="Made from the name when empty; it never changes."
    )


class ProjectChange(Input):
    """Another name."""

    name: str = Field(max_length=80)


class ProjectOut(Output):
    """A project, and your role in it."""

    id: int
    slug: str
    name: str
    role: str
    created_at: datetime
    archived_at: datetime | None
    version: str = Field(description="Of the name: for `If-Match` of a change.")


class ProjectQuery(PageQuery):
    """Which projects."""

    archived: bool = Field(False, description="Archived ones instead.")


class MemberIn(Input):
    """A new member."""

    username: str = Field(max_length=150)
    role: RoleName = "viewer"


class MemberChange(Input):
    """Another role."""

    role: RoleName


class MemberOut(Output):
    """A member; `from_group`: the role follows a group of the identity provider."""

    username: str
    name: str
    role: str
    from_group: bool
    is_active: bool
    version: str = Field(description="Of the role: for `If-Match` of a change.")


@router.get("", response=Page[ProjectOut], summary="List projects")
def list_projects(request: HttpRequest, filters: Query[ProjectQuery]) -> Any:
    """List the projects that you see, oldest first."""
    user = caller(request)
    found = access.projects_of(user).filter(archived_at__isnull=not filters.archived)
    rows, following = page_by_id(found, filters)
    return {"items": [_project(user, row) for row in rows], "next": following}


@router.post("", response={201: ProjectOut}, summary="Make a project")
def create(request: HttpRequest, body: NewProject) -> Any:
    """Make a project whose first admin you are; for administrators of the service."""
    user = caller(request)

    def make() -> dict[str, Any]:
        made = projects.create_project(user=user, name=body.name, slug=body.slug)
        return _project(user, made)

    return Status(201, once(request, make))


@router.get("/{slug}", response=ProjectOut, summary="Show a project")
def show(request: HttpRequest, slug: str) -> Any:
    """Show a project."""
    return _project(caller(request), _found(request, slug))


@router.patch("/{slug}", response=ProjectOut, summary="Rename a project")
def rename(request: HttpRequest, slug: str, body: ProjectChange) -> Any:
    """Give it another name; the slug stays."""
    project = _found(request, slug)
    projects.rename_project(
        user=caller(request), project=project, name=body.name, seen=seen_version(request)
    )
    return _project(caller(request), project)


@router.post("/{slug}/archive", response=ProjectOut, summary="Archive a project")
def archive(request: HttpRequest, slug: str) -> Any:
    """Make it read-only; refused while a run is at work in it."""
    project = _found(request, slug)
    projects.archive_project(user=caller(request), project=project)
    return _project(caller(request), project)


@router.post("/{slug}/restore", response=ProjectOut, summary="Bring a project back")
def restore(request: HttpRequest, slug: str) -> Any:
    """Take it out of the archive."""
    project = _found(request, slug)
    projects.restore_project(user=caller(request), project=project)
    return _project(caller(request), project)


@router.get("/{slug}/members", response=Page[MemberOut], summary="List members")
def list_members(request: HttpRequest, slug: str, filters: Query[PageQuery]) -> Any:
    """List the members, the longest one first."""
    project = _found(request, slug)
    access.require(caller(request), project.pk, READ)
    found = Membership.objects.filter(project=project).select_related("user")
    rows, following = page_by_id(found, filters)
    return {"items": [_member(row) for row in rows], "next": following}


@router.post("/{slug}/members", response={201: MemberOut}, summary="Add a member")
def add_member(request: HttpRequest, slug: str, body: MemberIn) -> Any:
    """Give somebody who has an account a role."""
    user, project, role = caller(request), _found(request, slug), Role[body.role.upper()]

    def make() -> dict[str, Any]:
        made = members.add_member(user=user, project=project, username=body.username, role=role)
        return _member(made)

    return Status(201, once(request, make))


@router.patch(
    "/{slug}/members/{username}", response=MemberOut, summary="Change the role of a member"
)
def change_member(request: HttpRequest, slug: str, username: str, body: MemberChange) -> Any:
    """Give a member another role; the last admin stays one."""
    user, project, role = caller(request), _found(request, slug), Role[body.role.upper()]
    return _member(
        members.change_role(
            user=user, project=project, username=username, role=role, seen=seen_version(request)
        )
    )


@router.delete("/{slug}/members/{username}", response={204: None}, summary="Remove a member")
def remove_member(request: HttpRequest, slug: str, username: str) -> Any:
    """Take somebody out of the project; the last admin stays."""
    members.remove_member(user=caller(request), project=_found(request, slug), username=username)
    return Status(204, None)


def _found(request: HttpRequest, slug: str) -> Project:
    found = access.projects_of(caller(request)).filter(slug=slug).first()
    if found is None:
        told = _("There is no project %(slug)r, or you are no member of it.")
        raise NotFound(told % {"slug": slug})
    return found


def _project(user: User, project: Project) -> dict[str, Any]:
    role = access.role_of(user, project.pk)
    plain = {name: getattr(project, name) for name in ("slug", "name", "created_at", "archived_at")}
    return plain | {"id": project.pk, "role": role.name.lower() if role else "",
                    "version": projects.version_of(project)}  # fmt: skip


def _member(member: Membership) -> dict[str, Any]:
    user = member.user
    return {
        "username": user.username, "name": user.get_full_name(), "role": Role(member.role).name.lower(),
        "from_group": member.is_from_group, "is_active": user.is_active,
        "version": members.version_of(member),
    }  # fmt: skip
