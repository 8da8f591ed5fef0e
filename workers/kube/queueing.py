"""Why a queue has not admitted a workload yet: Kueue's conditions in words. We read them and never resume anything."""

from collections.abc import Iterable, Mapping
from typing import Any

from workers.kube.conditions import condition, is_true

Json = Mapping[str, Any]


def workload_of(job: Json, workloads: Iterable[Json]) -> Json | None:
    """Return the Workload that Kueue made for this Job."""
    uid = job["metadata"]["uid"]
    for workload in workloads:
        owners = workload["metadata"].get("ownerReferences") or []
        if any(owner.get("uid") == uid for owner in owners):
            return workload
    return None


def why_waiting(queue: str, workload: Json | None) -> str:
    """Return the reason in a sentence; empty when it was admitted."""
    if workload is None:
        return f"Waiting for queue {queue}: Kueue has not seen it yet. Is the queue there?"
    if is_true(workload, "Admitted"):
        return ""
    for type_, words in (("Evicted", "taken out again"), ("Preempted", "preempted")):
        found = condition(workload, type_)
        if found and found.get("status") == "True":
            return f"Queue {queue}: {words} ({found.get('reason')}). {found.get('message') or ''}".strip()
    if is_true(workload, "QuotaReserved"):
        return f"Queue {queue}: quota is reserved, other admission checks are pending."
    found = condition(workload, "QuotaReserved") or {}
    details = str(found.get("message") or found.get("reason") or "no quota yet")
    return f"Waiting in queue {queue}: {details}"
