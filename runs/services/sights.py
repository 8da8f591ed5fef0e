"""What was last seen of the workload of an attempt: its pods, and where it differs from what was asked for."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs import live, pod_table
from runs.models import Attempt, Sight
from runs.services import events


@transaction.atomic
def record_pods(*, attempt: Attempt, pods: Iterable[dict[str, Any]]) -> bool:
    """Keep the table of the pods and tell the open pages; return whether anything changed.

    Args:
        attempt: Whose pods they are.
        pods: Rows as `runs.pod_table` describes them.
    """
    sight = Sight.objects.select_for_update().filter(attempt=attempt).first()
    old = sight.pods if sight else {}
    table = pod_table.merged(old, pods)
    if table == old or not table["num"]:
        return False
    values = {"pods": table, "seen_at": timezone.now()}
    Sight.objects.update_or_create(attempt=attempt, defaults=values)
    told = {"attempt": attempt.number, "state": attempt.state, "pods": table["words"]}
    transaction.on_commit(partial(live.publish, attempt.run_id, "state", told))
    return True


@transaction.atomic
def record_drift(
    *,
    attempt: Attempt,
    findings: Sequence[dict[str, Any]],
    image_ids: Sequence[str] = (),
    at: datetime | None = None,
) -> None:
    """Keep where the workload differs from what was asked for; each field is told once on the timeline.

    Args:
        attempt: Whose workload was compared.
        findings: As `safehold.findings` writes them, with `evidence.field`; none: nothing differs now.
        image_ids: Digests of the images that its pods run; none where none runs yet.
        at: When it was compared; default now.
    """
    sight = Sight.objects.select_for_update().filter(attempt=attempt).first()
    is_news = list(findings) != (sight.drift if sight else [])
    values = {"drift": list(findings), "drift_checked_at": at or timezone.now()}
    if image_ids:
        values["image_ids"] = list(image_ids)
    Sight.objects.update_or_create(attempt=attempt, defaults=values)
    if not is_news:
        return
    for finding in findings:
        field = str(finding["evidence"]["field"])
        events.record(
            run=attempt.run, attempt=attempt, kind="drift", message=finding["message"],
            data={"finding": finding}, key=f"drift:{attempt.pk}:{field}"[:120],
        )  # fmt: skip
    told = {"attempt": attempt.number, "state": attempt.state, "drift": len(findings)}
    transaction.on_commit(partial(live.publish, attempt.run_id, "state", told))
