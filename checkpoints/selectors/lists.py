"""Lists of checkpoints: filtered, in order, a page at a time; manifests stay in the database."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Prefetch, QuerySet, Sum
from django.utils import timezone

from checkpoints.models import Checkpoint, Verification
from checkpoints.states import State
from controlplane.common.models import Project
from runs import listings
from runs.models import Run

# The orders that the table offers; none of the columns is ever null.
ORDERS = {"newest": "-pk", "oldest": "pk", "step": "-step", "size": "-size_bytes"}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What an address asks for; empty means all."""

    run_id: int | None = None
    state: str = ""
    kind: str = ""
    is_pinned: bool | None = None
    order: str = "newest"
    cursor: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Whether something is left out."""
        return bool(self.run_id or self.state or self.kind or self.is_pinned is not None)


def page(
    *,
    projects: Iterable[Project],
    filters: Filters,
    size: int = listings.PAGE_SIZE,
    is_strict: bool = False,
) -> listings.Page[Checkpoint]:
    """Return one page of the checkpoints of these projects; `is_strict` as in `listings.page_of`."""
    rows = _rows().filter(run__project__in=projects)
    if filters.run_id:
        rows = rows.filter(run_id=filters.run_id)
    if filters.state:
        rows = rows.filter(state=filters.state)
    if filters.kind:
        rows = rows.filter(kind=filters.kind)
    if filters.is_pinned is not None:
        rows = rows.filter(is_pinned=filters.is_pinned)
    order = ORDERS.get(filters.order, "-pk")
    return listings.page_of(
        rows, order=order, cursor=filters.cursor, size=size, is_strict=is_strict
    )


def for_run(run: Run) -> QuerySet[Checkpoint]:
    """Return the checkpoints of a run, the newest record first."""
    return _rows().filter(run=run).order_by("-pk")


def newest_usable(run_id: int) -> Checkpoint | None:
    """Return the run's recovery point with the highest step."""
    rows = Checkpoint.objects.without_manifest().usable().filter(run_id=run_id)
    return rows.order_by("-step", "-pk").first()


def seconds_since_saved(run: Run, now: datetime | None = None) -> float | None:
    """Return how long ago the run's newest checkpoint that is not damaged was saved; None without one."""
    good = Checkpoint.objects.saved().filter(run=run).exclude(state=Checkpoint.State.DAMAGED)
    newest = good.aggregate(at=Max("saved_at"))["at"]
    return ((now or timezone.now()) - newest).total_seconds() if newest else None


def newest_failed(run: Run) -> Checkpoint | None:
    """Return the failed save that nothing was saved after; None while saving works."""
    newest = Checkpoint.objects.without_manifest().filter(run=run).exclude(state=State.WRITING)
    last = newest.order_by("-pk").first()
    return last if last is not None and last.state == State.FAILED else None


def space_used(project: Project) -> dict[str, int]:
    """Return how many checkpoints of the project lie on storage, and their bytes."""
    saved = Checkpoint.objects.saved().filter(run__project=project)
    sums = saved.aggregate(count=Count("pk"), size_bytes=Sum("size_bytes"))
    return {"count": sums["count"], "size_bytes": sums["size_bytes"] or 0}


def _rows() -> QuerySet[Checkpoint]:
    open_ones = Verification.objects.filter(
        state__in=[Verification.State.REQUESTED, Verification.State.RUNNING]
    )
    return (
        Checkpoint.objects.without_manifest()
        .select_related("run__project", "attempt")
        .prefetch_related(
            Prefetch("verifications", queryset=open_ones, to_attr="open_verifications")
        )
    )
