"""Projects: made, renamed, archived; never deleted, for what ran in them stays traceable."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from controlplane.common import access, audit, versions
from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import Membership, Project, Role, User

# Each says in a sentence what stands against archiving a project, or nothing. Apps above this one add theirs.
BLOCKERS: list[Callable[[Project], str]] = []
_LONGEST_NAME, _LONGEST_SLUG = 80, 60


@transaction.atomic
def create_project(*, user: User, name: str, slug: str = "") -> Project:
    """Make a project; who makes it is its first admin.

    Args:
        user: An administrator of the service.
        name: What people read; no other project has it.
        slug: Its name in addresses and on the command line; made from the name when empty. It never changes.

    Raises:
        Invalid: Name or slug cannot be used; `fields` names it.
    """
    access.require_service(user, "project.create")
    name = _checked_name(name)
    project = Project.objects.create(name=name, slug=_checked_slug(slug, name))
    Membership.objects.create(project=project, user=user, role=Role.ADMIN)
    data = {"name": project.name, "slug": project.slug}
    audit.record(
        actor=user, action="project.create", object=project, project_id=project.pk, data=data
    )
    return project


@transaction.atomic
def rename_project(*, user: User, project: Project, name: str, seen: str = "") -> None:
    """Give the project another name; its slug stays.

    Raises:
        ChangedMeanwhile: It has not the version that was read.
        Invalid: The name cannot be used.
    """
    access.require(user, project.pk, "project.rename")
    held = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    versions.require_unchanged(seen, {"name": held.name}, held, "project.rename")
    old, name = held.name, _checked_name(name, but=project)
    if name == old:
        return
    project.name = name
    project.save(update_fields=["name"])
    data = {"old": old, "new": name}
    audit.record(
        actor=user, action="project.rename", object=project, project_id=project.pk, data=data
    )


@transaction.atomic
def archive_project(*, user: User, project: Project) -> None:
    """Make the project read-only; asked again nothing changes.

    Raises:
        Conflict: Something in it is still at work.
    """
    access.require(user, project.pk, "project.archive")
    held = Project.objects.select_for_update().get(pk=project.pk)
    for blocker in BLOCKERS:
        if said := blocker(held):
            told = _("Project %(name)s cannot be archived: %(reason)s")
            raise Conflict(told % {"name": held.name, "reason": said}, code="project-busy")
    _set_archived(user, project, "project.archive", is_archived=True)


@transaction.atomic
def restore_project(*, user: User, project: Project) -> None:
    """Bring an archived project back; asked again nothing changes."""
    access.require(user, project.pk, "project.restore")
    _set_archived(user, project, "project.restore", is_archived=False)


def _set_archived(user: User, project: Project, action: str, *, is_archived: bool) -> None:
    at = timezone.now() if is_archived else None
    held = Project.objects.filter(pk=project.pk, archived_at__isnull=is_archived)
    if held.update(archived_at=at):
        audit.record(actor=user, action=action, object=project, project_id=project.pk)
    project.refresh_from_db(fields=["archived_at"])


def version_of(project: Project) -> str:
    """Return the version of what an admin edits on a project."""
    return versions.version_of({"name": project.name})


def _checked_name(name: str, *, but: Project | None = None) -> str:
    name = " ".join(name.replace("\0", " ").split())
    if not 0 < len(name) <= _LONGEST_NAME:
        told = _("A name has 1 to %(most)d characters; this one has %(num)d.")
        raise _refused("name", told % {"most": _LONGEST_NAME, "num": len(name)})
    others = Project.objects.filter(name__iexact=name)
    if (others.exclude(pk=but.pk) if but is not None else others).exists():
        raise _refused("name", _("There is a project %(name)s already.") % {"name": name})
    return name


def _checked_slug(given: str, name: str) -> str:
    slug = given or slugify(name)[:_LONGEST_SLUG].strip("-")
    if not slug:  # a name in another script
        return f"project-{Project.objects.count() + 1}"
    if slug != slugify(slug) or len(slug) > _LONGEST_SLUG:
        told = _("Lower case letters, digits and -, at most %(most)d.")
        raise _refused("slug", told % {"most": _LONGEST_SLUG})
    if Project.objects.filter(slug=slug).exists():
        raise _refused("slug", _("There is a project %(name)s already.") % {"name": slug})
    return slug


def _refused(field: str, message: str) -> Invalid:
    told = _("The project cannot be named so: %(reason)s") % {"reason": message}
    return Invalid(told, fields={field: [message]})
