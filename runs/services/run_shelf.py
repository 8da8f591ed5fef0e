"""Putting runs away: archived, and after a time of grace deleted. Checkpoints have rules of their own."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Conflict
from controlplane.common.models import User
from runs.models import LogChunk, MetricBatch, MetricChunk, Run, SampleIds, Series
from runs.services import events


@transaction.atomic
def archive_run(*, run: Run, user: User) -> Run:
    """Take a run out of the usual lists; done again it changes nothing.

    Raises:
        Conflict: It has not ended.
    """
    held = _held(run, user, "run.archive")
    if held.archived_at is None:
        if held.attempts.exclude(state="ended").exists():
            raise Conflict(
                _("Run %(run)s has not ended.") % {"run": held.pk}, hint=_("Stop it first.")
            )
        _set(held, run, archived_at=timezone.now())
        _tell(held, user, "archive", f"{user} archived the run.")
    return held


@transaction.atomic
def unarchive_run(*, run: Run, user: User) -> Run:
    """Bring an archived run back into the lists; one that was to be deleted is kept.

    Raises:
        Conflict: It is deleted.
    """
    held = _held(run, user, "run.unarchive")
    _refuse_deleted(held)
    if held.archived_at is not None:
        _set(held, run, archived_at=None, delete_after=None)
        _tell(held, user, "unarchive", f"{user} brought the run back from the archive.")
    return held


@transaction.atomic
def request_deletion(*, run: Run, user: User) -> Run:
    """Mark an archived run for deletion: its metrics, logs and samples go once the time of grace is over.

    The record, its timeline and its checkpoints stay: what was made from it can still be traced.

    Raises:
        Conflict: It is not archived, or deleted already.
    """
    held = _held(run, user, "run.delete")
    _refuse_deleted(held)
    if held.archived_at is None:
        raise Conflict(
            _("Run %(run)s is not archived.") % {"run": held.pk}, hint=_("Archive it first.")
        )
    if held.delete_after is None:
        days = settings.SAFEHOLD_RUN_RETENTION_DAYS
        _set(held, run, delete_after=timezone.now() + timedelta(days=days))
        said = f"{user} asked to delete the run; its metrics and logs go on {held.delete_after:%Y-%m-%d}."
        _tell(held, user, "delete", said)
    return held


@transaction.atomic
def keep_run(*, run: Run, user: User) -> Run:
    """Take back that a run is to be deleted.

    Raises:
        Conflict: It is deleted already.
    """
    held = _held(run, user, "run.keep")
    _refuse_deleted(held)
    if held.delete_after is not None:
        _set(held, run, delete_after=None)
        _tell(held, user, "keep", f"{user} kept the run from being deleted.")
    return held


def due_runs(now: datetime | None = None) -> list[int]:
    """Return the runs whose time of grace is over."""
    due = Run.objects.filter(delete_after__lte=now or timezone.now(), deleted_at__isnull=True)
    return list(due.order_by("delete_after").values_list("pk", flat=True)[:100])


@transaction.atomic
def delete_due(*, run_id: int, now: datetime | None = None) -> bool:
    """Delete what a run has stored, if it is still due; safe to repeat. Return whether it did."""
    moment = now or timezone.now()
    held = Run.objects.select_for_update(no_key=True).get(pk=run_id)
    if held.is_deleted or held.delete_after is None or held.delete_after > moment:
        return False
    attempts = list(held.attempts.values_list("pk", flat=True))
    for model in (MetricBatch, SampleIds, LogChunk):
        model.objects.filter(attempt__in=attempts)._raw_delete("default")
    MetricChunk.objects.filter(series__attempt__in=attempts)._raw_delete("default")
    Series.objects.filter(attempt__in=attempts)._raw_delete("default")
    _set(held, held, deleted_at=moment, sparkline={})
    audit.record(actor=None, action="run.purge", object=held)
    events.record(
        run=held,
        kind="deleted",
        message="Its metrics, logs and samples were deleted; the record stays.",
    )
    return True


def _held(run: Run, user: User, act: str) -> Run:
    access.require(user, run.project_id, act)
    return Run.objects.select_for_update(no_key=True).get(pk=run.pk)


def _refuse_deleted(held: Run) -> None:
    if held.is_deleted:
        raise Conflict(_("Run %(run)s is deleted; only its record is left.") % {"run": held.pk})


def _set(held: Run, run: Run, **values: object) -> None:
    for name, value in values.items():
        setattr(held, name, value)
        setattr(run, name, value)
    held.save(update_fields=list(values))


def _tell(held: Run, user: User, act: str, message: str) -> None:
    audit.record(actor=user, action=f"run.{act}", object=held)
    events.record(run=held, kind=act, message=message, user=user)
