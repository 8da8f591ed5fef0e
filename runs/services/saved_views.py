"""Lists of runs under a name: a person's own, or shared with the project."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from controlplane.common import access, audit, versions
from controlplane.common.errors import Invalid, NotFound
from controlplane.common.models import Project, User
from runs.labels import cleaned_name
from runs.models import SavedView

NAME_LENGTH = 80
QUERY_LENGTH = 1000
# What the list understands; anything else of an address is not kept.
KEPT = ("q", "state", "owner", "group", "tag", "shelf", "card", "config", "order")


@transaction.atomic
def save_view(
    *,
    user: User,
    project: Project,
    name: str,
    query: str,
    is_shared: bool = False,
    seen: Mapping[str, str] | None = None,
) -> SavedView:
    """Keep filters and order of the list of runs under a name; the same name again replaces one's own.

    Args:
        user: Whose view it is; sharing needs the role operator.
        project: Whose runs.
        name: At most 80 characters.
        query: As the address of the list has it, without the `?`.
        is_shared: Whether all members see it.
        seen: `versions_of` one's own views as they were read; None: whatever they are now.

    Raises:
        ChangedMeanwhile: A view of this name was kept or changed after that, in another tab.
        Invalid: The name or the query cannot be used.
    """
    access.require(user, project.pk, "view.share" if is_shared else "view.save")
    given = cleaned_name(name)[:NAME_LENGTH]
    if not given:
        raise Invalid(_("A view has a name."), fields={"name": [_("It is missing.")]})
    mine: dict[str, Any] = {"project": project, "user": user, "name": given}
    if seen is not None:
        _require_unchanged(SavedView.objects.select_for_update().filter(**mine).first(), seen)
    view, _is_new = SavedView.objects.update_or_create(
        **mine, defaults={"query": _kept(query), "is_shared": is_shared}
    )
    data = {"name": given, "query": view.query, "is_shared": is_shared}
    audit.record(actor=user, action="view.save", object=view, data=data)
    return view


@transaction.atomic
def remove_view(*, user: User, view_id: int) -> None:
    """Forget a view of one's own; an admin of the project forgets any.

    Raises:
        NotFound: There is none, or it is another person's own.
        Forbidden: It is shared by another person, and the caller is no admin.
    """
    view = SavedView.objects.filter(pk=view_id).first()
    if view is None or not views_of(user, view.project_id).filter(pk=view_id).exists():
        raise NotFound(
            _("There is no view %(id)s, or it is not shared with you.") % {"id": view_id}
        )
    access.require(user, view.project_id, "view.save" if view.user_id == user.pk else "view.remove")
    audit.record(actor=user, action="view.remove", object=view, data={"name": view.name})
    view.delete()


def versions_of(user: User, views: Iterable[SavedView]) -> dict[str, str]:
    """Return the versions of a person's own among these views, by name."""
    return {view.name: _version(view) for view in views if view.user_id == user.pk}


def views_of(user: User, project_id: int) -> "QuerySet[SavedView]":
    """Return the views that a person may use in a project: their own and the shared ones, by name."""
    projects = access.projects_of(user).filter(pk=project_id)
    return all_views(user, projects).select_related("user")


def all_views(user: User, projects: "QuerySet[Project]") -> "QuerySet[SavedView]":
    """Return the views that a person may use in these projects, which the person may see."""
    found = SavedView.objects.filter(project__in=projects)
    return found.filter(user=user) | found.filter(is_shared=True)


def _version(view: SavedView) -> str:
    return versions.version_of(_written(view))


def _written(view: SavedView) -> dict[str, object]:
    return {"query": view.query, "is_shared": view.is_shared}


def _require_unchanged(view: SavedView | None, seen: Mapping[str, str]) -> None:
    if view is not None:
        read = seen.get(view.name, "none")
        versions.require_unchanged(read, _written(view), view, "view.save")


def _kept(query: str) -> str:
    try:
        asked = QueryDict(query.removeprefix("?"))
    except ValueError as error:
        raise Invalid(_("The query cannot be read."), fields={"query": [str(error)]}) from error
    kept = QueryDict(mutable=True)
    for name in KEPT:
        if value := asked.get(name, "").replace("\0", ""):
            kept[name] = value
    text = kept.urlencode()
    if len(text) > QUERY_LENGTH:
        raise Invalid(
            _("The query is too long."), fields={"query": [_("It has too many filters.")]}
        )
    return text
