"""Carrying out a preflight report: by one at a time, and again when its worker died."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from controlplane.common.queue import wake
from runs.models import PreflightReport
from runs.services import rule_facts
from safehold.preflight import facts_of, run_checks

State = PreflightReport.State
# A worker that reads renews its lease every few thousand lines; one that is silent for so long is gone.
LEASE = timedelta(seconds=60)
_RENEW_SECONDS = 5.0
# A report that kills its worker again and again (data that exhaust the memory) is given up.
MOST_TRIES = 3


def carry_out(*, report_id: int) -> None:
    """Gather, judge, record; safe to repeat, and done by one at a time."""
    report = _claim(report_id)
    if report is None:
        return
    try:
        facts = facts_of(report.config.document, report.only, _progress(report))
        found = run_checks(rule_facts.with_records(facts, report.config), report.only)
    except Exception as error:
        _end(report, state=State.FAILED, error=f"The checks could not be run: {error!r}")
        raise
    document = found.to_dict()
    _end(report, state=State.DONE, verdict=document["verdict"], findings=document["findings"])


def left_behind() -> QuerySet[PreflightReport]:
    """Return the reports that nobody works on: their message was lost, or their worker died."""
    now = timezone.now()
    young = now - timedelta(seconds=5)
    asked = Q(lease_until=None, requested_at__lt=young) | Q(lease_until__lt=now)
    return PreflightReport.objects.filter(
        Q(state=State.REQUESTED) & asked | Q(state=State.RUNNING, lease_until__lt=now)
    )


def wake_left_behind() -> None:
    """Call a worker for each of them.

    Who has waited for long waits as long again before the next call: where the workers are busy for hours, calls would
    pile up without end.
    """
    found, now = list(left_behind().values_list("pk", flat=True)[:100]), timezone.now()
    waiting = PreflightReport.objects.filter(pk__in=found, state=State.REQUESTED)
    waiting.update(lease_until=now + (now - F("requested_at")))
    for report_id in found:
        wake("workers.preflight", report_id=report_id)


def _claim(report_id: int) -> PreflightReport | None:
    now = timezone.now()
    free = Q(state=State.REQUESTED) | Q(state=State.RUNNING, lease_until__lt=now)
    taken = PreflightReport.objects.filter(free, pk=report_id).update(
        state=State.RUNNING, started_at=now, lease_until=now + LEASE
    )
    if not taken:
        return None
    report = PreflightReport.objects.select_related("config").get(pk=report_id)
    report.progress["tries"] = report.progress.get("tries", 0) + 1
    if report.progress["tries"] > MOST_TRIES:
        _end(report, state=State.FAILED, error=f"Its worker ended {MOST_TRIES} times while it ran.")
        return None
    report.save(update_fields=["progress"])
    return report


def _progress(report: PreflightReport) -> Callable[[int, int], None]:
    told_at = time.monotonic()

    def tell(done_bytes: int, total_bytes: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at < _RENEW_SECONDS:
            return
        told_at = time.monotonic()
        PreflightReport.objects.filter(pk=report.pk, state=State.RUNNING).update(
            progress={**report.progress, "done_bytes": done_bytes, "total_bytes": total_bytes},
            lease_until=timezone.now() + LEASE,
        )

    return tell


def _end(report: PreflightReport, **changes: Any) -> None:
    values = {"ended_at": timezone.now(), "lease_until": None, **changes}
    PreflightReport.objects.filter(pk=report.pk, state=State.RUNNING).update(**values)
