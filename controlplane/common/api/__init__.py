"""What the routers of every app share: who calls, what a body may hold, lists, repeated creates, problems."""

from controlplane.common.api.auth import caller
from controlplane.common.api.idempotency import once
from controlplane.common.api.pages import MOST_ITEMS, Page, PageQuery, project_for, visible_projects
from controlplane.common.api.schemas import Id, Input, Output, Whole
from controlplane.common.api.seen import mark, seen_version

__all__ = [
    "MOST_ITEMS",
    "Id",
    "Input",
    "Output",
    "Page",
    "PageQuery",
    "Whole",
    "caller",
    "mark",
    "once",
    "project_for",
    "seen_version",
    "visible_projects",
]
