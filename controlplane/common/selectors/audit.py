"""The audit trail as a person may read it: filtered, by key, the newest first."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from controlplane.common import access
from controlplane.common.cursors import UnreadableCursor, read_id
from controlplane.common.models import AuditEntry, Project, User
from controlplane.common.rights import ACTS

PAGE_SIZE = 50
_COLUMNS = (
    "id", "at", "actor_id", "actor_name", "project_id", "action", "object_type", "object_id", "data", "prev_hash", "hash",
)  # fmt: skip
# A spreadsheet would compute a cell that begins so.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Filters:
    """Which entries; what is empty chooses nothing.

    Attributes:
        actor: A user name.
        action: An act, or the noun that acts begin with: `member`.
        object_type: `run`, `config` …
        object_id: Its id, with `object_type`.
        since: At or after this time.
        until: Before this time.
    """

    actor: str = ""
    action: str = ""
    object_type: str = ""
    object_id: str = ""
    since: datetime | None = None
    until: datetime | None = None


def entries(
    user: User, filters: Filters, *, project: Project | None = None
) -> "QuerySet[AuditEntry]":
    """Return what this person may read: of a project, else of all of theirs and what belongs to none.

    What belongs to no project an administrator of the service reads, and everybody what they did themselves.
    """
    if project is not None:
        found = AuditEntry.objects.filter(project_id=project.pk)
    elif access.may(user, None, "audit.read_all"):
        found = AuditEntry.objects.all()
    else:
        mine = Q(project_id__in=list(access.projects_of(user).values_list("pk", flat=True)))
        is_held = user.token is not None and user.token.project_id is not None
        found = AuditEntry.objects.filter(
            mine if is_held else mine | Q(project_id=None, actor=user)
        )
    return _filtered(found, filters).order_by("-pk")


def page(
    found: "QuerySet[AuditEntry]",
    *,
    cursor: str = "",
    size: int = PAGE_SIZE,
    is_strict: bool = False,
) -> tuple[list[AuditEntry], str]:
    """Return a page and the cursor of the next, empty at the end.

    Raises:
        UnreadableCursor: The cursor is none, and is_strict; else the first page is meant.
    """
    try:
        if (behind := read_id(cursor)) is not None:
            found = found.filter(pk__lt=behind)
    except UnreadableCursor:
        if is_strict:
            raise
    rows = list(found[: size + 1])
    return rows[:size], str(rows[size - 1].pk) if len(rows) > size else ""


def as_json_lines(found: "QuerySet[AuditEntry]") -> Iterator[bytes]:
    """Yield one object a line, exactly as it is chained: who has the lines can compute the digests."""
    for row in _rows(found):
        yield (json.dumps(row, ensure_ascii=False, default=_text) + "\n").encode()


def as_csv(found: "QuerySet[AuditEntry]") -> Iterator[bytes]:
    """Yield a table; a cell that a spreadsheet would compute begins with an apostrophe."""
    yield _line(_COLUMNS)
    for row in _rows(found):
        data = json.dumps(row["data"], ensure_ascii=False)
        yield _line([_harmless(_text(value)) for value in (row | {"data": data}).values()])


def _filtered(found: "QuerySet[AuditEntry]", filters: Filters) -> "QuerySet[AuditEntry]":
    if filters.action:
        below = [name for name in ACTS if name.startswith(f"{filters.action}.")]
        found = found.filter(action__in=below or [filters.action])
    plain = {
        "actor_name": filters.actor,
        "object_type": filters.object_type,
        "object_id": filters.object_id,
    }
    times = {"at__gte": filters.since, "at__lt": filters.until}
    return found.filter(**{name: value for name, value in (plain | times).items() if value})


def _rows(found: "QuerySet[AuditEntry]") -> Iterator[dict[str, Any]]:
    in_chain_order = found.order_by("pk")
    yield from in_chain_order.values(*_COLUMNS).iterator(chunk_size=1000)


def _line(values: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(values)
    return text.getvalue().encode()


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else str(value)


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
