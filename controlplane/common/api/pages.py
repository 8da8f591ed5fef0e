"""Lists: `{"items": [...], "next": cursor or null}`, in projects that the caller may see."""

from typing import Annotated, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from ninja import Schema
from pydantic import ConfigDict, Field

from controlplane.common import access
from controlplane.common.cursors import read_id
from controlplane.common.errors import Invalid, NotFound
from controlplane.common.models import Project, User

MOST_ITEMS = 200
Item = TypeVar("Item")
ModelT = TypeVar("ModelT", bound=Model)


class Page(Schema, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: str | None = Field(
        None, description="Cursor of the page after this one; null at the end."
    )


class PageQuery(Schema):
    """What every list takes."""

    model_config = ConfigDict(extra="forbid")

    project: str | None = Field(
        None, description="Slug of a project; all that you see when left out."
    )
    cursor: str = Field("", max_length=500, description="`next` of the page before.")
    limit: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 50


def page_by_id(
    found: "QuerySet[ModelT]", filters: PageQuery, *, is_falling: bool = False
) -> tuple[list[ModelT], str | None]:
    """Cut a page of rows in the order of their ids; return it with the cursor of the next.

    Raises:
        UnreadableCursor: The cursor is none.
    """
    if (behind := read_id(filters.cursor)) is not None:
        found = found.filter(**{"pk__lt" if is_falling else "pk__gt": behind})
    rows = list(found.order_by("-pk" if is_falling else "pk")[: filters.limit + 1])
    has_more = len(rows) > filters.limit
    return rows[: filters.limit], str(rows[filters.limit - 1].pk) if has_more else None


def visible_projects(user: User, slug: str | None) -> QuerySet[Project]:
    """Return the projects whose objects a list shows.

    Raises:
        NotFound: The one that is named does not exist for this person.
    """
    found = access.projects_of(user)
    if slug is None:
        return found
    named = found.filter(slug=slug)
    if not named.exists():
        told = _("There is no project %(slug)r, or you are no member of it.")
        raise NotFound(told % {"slug": slug})
    return named


def project_for(user: User, slug: str | None) -> Project:
    """Return the project that a new object goes to: the one named, else the only one that is not archived.

    Raises:
        NotFound: The one that is named does not exist for this person.
        Invalid: None is named and there are several.
    """
    seen = visible_projects(user, slug)
    at_work = seen.filter(archived_at=None) if slug is None else seen
    found = list(at_work[:20]) or list(seen[:20])
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(
            _("You are a member of no project."), hint=_("Ask an admin to add you to one.")
        )
    choices = ", ".join(project.slug for project in found)
    told = _("One of: %(choices)s.") % {"choices": choices}
    raise Invalid(_("Name the project."), fields={"project": [told]})
